import { guardFetch } from '../../src/index.ts';
import type { Crawl } from './crawl.ts';

/** Ends a crawl in its middle, and crawls what is left with a second guard of the same client. */
export default async function endedAndBegunAgain({ robots, pacing, urls, ended }: Crawl): Promise<void> {
  const left = new Set(urls);
  for (const atMost of [3, Infinity]) {
    const get = guardFetch(fetch, robots, { pacing });
    const stop = new AbortController();
    let done = 0;
    await Promise.all(
      [...left].map(async (url) => {
        try {
          await (await get(url, { signal: stop.signal })).text();
          left.delete(url);
          ended(url);
        } catch (error) {
          if (stop.signal.aborted) return;
          left.delete(url);
          ended(url, error);
        }
        if (++done >= atMost) stop.abort();
      }),
    );
  }
}
