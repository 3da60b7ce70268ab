import { setTimeout as sleep } from 'node:timers/promises';
import { guardFetch } from '../../src/index.ts';
import type { Crawl } from './crawl.ts';

/** Gives up waiting for a page, and asks again. The one that lost goes on, and nobody looks at it. */
export default async function raceWithATimer({ robots, pacing, urls, ended }: Crawl): Promise<void> {
  const get = guardFetch(fetch, robots, { pacing });
  const text = async (url: string): Promise<string> => (await get(url)).text();
  for (const url of urls) {
    try {
      const first = text(url);
      first.catch(() => undefined);
      const won = await Promise.race([first, sleep(1)]);
      if (won === undefined) await text(url);
      ended(url);
    } catch (error) {
      ended(url, error);
    }
  }
}
