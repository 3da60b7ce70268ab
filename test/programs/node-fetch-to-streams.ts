import nodeFetch from 'node-fetch';
import { guardFetch } from '../../src/index.ts';
import type { Crawl } from './crawl.ts';

/** node-fetch, whose bodies are streams of Node: some are read, some are destroyed. */
export default async function nodeFetchToStreams({ robots, pacing, urls, ended }: Crawl): Promise<void> {
  const get = guardFetch(nodeFetch as unknown as typeof fetch, robots, {
    pacing,
  }) as unknown as typeof nodeFetch;
  for (const [index, url] of urls.entries()) {
    try {
      const { body } = await get(url);
      if (index % 2 === 0) (body as NodeJS.ReadableStream & { destroy(): void }).destroy();
      else for await (const chunk of body!) if (chunk.length === 0) break;
      ended(url);
    } catch (error) {
      ended(url, error);
    }
  }
}
