import { setTimeout as sleep } from 'node:timers/promises';
import { guardFetch } from '../../src/index.ts';
import type { Crawl } from './crawl.ts';

/** Tries everything three times, whatever went wrong. */
export default async function retriesByHand({ robots, pacing, urls, ended }: Crawl): Promise<void> {
  const get = guardFetch(fetch, robots, { pacing });
  const load = async (url: string, tries = 3): Promise<string> => {
    try {
      const response = await get(url);
      if (!response.ok) throw new Error(`status ${response.status}: ${await response.text()}`);
      return await response.text();
    } catch (error) {
      if (tries === 1) throw error;
      await sleep(5);
      return load(url, tries - 1);
    }
  };
  await Promise.all(
    urls.map((url) =>
      load(url).then(
        () => ended(url),
        (error: unknown) => ended(url, error),
      ),
    ),
  );
}
