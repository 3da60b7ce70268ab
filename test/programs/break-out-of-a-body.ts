import { guardFetch } from '../../src/index.ts';
import type { Crawl } from './crawl.ts';

/** Reads the beginning of each page, and goes on. */
export default async function breakOutOfABody({ robots, pacing, urls, ended }: Crawl): Promise<void> {
  const get = guardFetch(fetch, robots, { pacing });
  for (const url of urls) {
    try {
      const response = await get(url);
      for await (const chunk of response.body!) if (chunk.length > 0) break;
      ended(url);
    } catch (error) {
      ended(url, error);
    }
  }
}
