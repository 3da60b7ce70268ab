import { guardFetch } from '../../src/index.ts';
import type { Crawl } from './crawl.ts';

/** Asks how long a page is before it loads it. */
export default async function headBeforeGet({ robots, pacing, urls, ended }: Crawl): Promise<void> {
  const get = guardFetch(fetch, robots, { pacing });
  for (const url of urls) {
    try {
      const head = await get(url, { method: 'HEAD' });
      if (Number(head.headers.get('content-length')) < 1_000_000) await (await get(url)).text();
      ended(url);
    } catch (error) {
      ended(url, error);
    }
  }
}
