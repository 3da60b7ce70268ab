import PQueue from 'p-queue';
import { guardFetch, retryLater } from '../../../src/index.ts';
import type { Run } from './run.ts';

/** Four places for all hosts, and the wait inside of a place: not as the guide says. */
export default async function queueAroundRetries({ robots, clock, urls, ended }: Run): Promise<void> {
  const get = guardFetch(fetch, robots, { pacing: true });
  const queue = new PQueue({ concurrency: 4 });
  for (const url of urls)
    void queue.add(async () => {
      const error = await retryLater(() => get(url), { clock, maxRetries: 5 }).then(
        (response) => response.text().then(() => undefined),
        (reason: unknown) => reason,
      );
      ended(url, error);
    });
  await queue.onIdle();
}
