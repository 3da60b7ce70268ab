import { guardFetch } from '../../src/index.ts';
import type { Crawl } from './crawl.ts';

/** Keeps a copy of each page beside what it parses. */
export default async function cloneOfAResponse({ robots, pacing, urls, ended }: Crawl): Promise<void> {
  const get = guardFetch(fetch, robots, { pacing });
  const copies: ArrayBuffer[] = [];
  const results = await Promise.allSettled(
    urls.map(async (url) => {
      const response = await get(url);
      const copy = response.clone();
      const [text, bytes] = await Promise.all([response.text(), copy.arrayBuffer()]);
      copies.push(bytes);
      return text;
    }),
  );
  for (const [index, result] of results.entries())
    ended(urls[index]!, result.status === 'rejected' ? result.reason : undefined);
}
