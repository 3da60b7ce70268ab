import { guardFetch } from '../../src/index.ts';
import type { Crawl } from './crawl.ts';

/** Aborts the first try of each page: one in the queue, the next in its body. */
export default async function abortInTheMiddle({ robots, pacing, urls, ended }: Crawl): Promise<void> {
  const get = guardFetch(fetch, robots, { pacing });
  for (const [index, url] of urls.entries()) {
    const controller = new AbortController();
    try {
      const aborted = get(url, { signal: controller.signal });
      if (index % 2 === 1) await aborted;
      controller.abort();
      await aborted.then((response) => response.text()).catch(() => undefined);
      await (await get(url)).text();
      ended(url);
    } catch (error) {
      ended(url, error);
    }
  }
}
