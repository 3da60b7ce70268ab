import got from 'got';
import { gotHooks } from '../../../src/guards/got/got.ts';
import { retryLater } from '../../../src/index.ts';
import type { Run } from './run.ts';

/** got retries by itself, too, after a second. */
export default async function gotWithItsOwnRetries({ robots, clock, urls, ended }: Run): Promise<void> {
  const client = got.extend({ retry: { limit: 1, backoffLimit: 1 } }, gotHooks(robots, { pacing: true }));
  for (const url of urls)
    await retryLater(() => client(url).text(), { clock }).then(
      () => ended(url),
      (error: unknown) => ended(url, error),
    );
}
