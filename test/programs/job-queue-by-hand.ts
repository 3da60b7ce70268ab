import { setTimeout as sleep } from 'node:timers/promises';
import { guardFetch, refusalIn } from '../../src/index.ts';
import type { Crawl } from './crawl.ts';

/** Five workers take jobs from an array. What is deferred goes back to it with its time. */
export default async function jobQueueByHand({ robots, pacing, urls, ended }: Crawl): Promise<void> {
  const get = guardFetch(fetch, robots, { pacing: { ...pacing, maxDelayMs: 10 } });
  const jobs = urls.map((url) => ({ url, notBefore: 0 }));
  let open = jobs.length;
  const work = async (): Promise<void> => {
    while (open > 0) {
      const index = jobs.findIndex(({ notBefore }) => notBefore <= Date.now());
      const [job] = index === -1 ? [] : jobs.splice(index, 1);
      if (job === undefined) {
        await sleep(5);
        continue;
      }
      const error = await get(job.url).then(
        (response) => response.text().then(() => undefined),
        (reason) => reason,
      );
      const refusal = refusalIn(error);
      if (refusal?.code === 'ERR_ROBOTS_DEFERRED') jobs.push({ url: job.url, notBefore: refusal.retryAt });
      else {
        open--;
        ended(job.url, error);
      }
    }
  };
  await Promise.all(Array.from({ length: 5 }, work));
}
