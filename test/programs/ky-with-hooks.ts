import ky from 'ky';
import { guardFetch } from '../../src/index.ts';
import type { Crawl } from './crawl.ts';

/** An instance of ky, with its retries. */
export default async function kyWithHooks({ robots, pacing, urls, ended }: Crawl): Promise<void> {
  const statuses: number[] = [];
  const client = ky.create({
    fetch: guardFetch(fetch, robots, { pacing, onDisallow: 'response' }),
    timeout: false,
    hooks: { afterResponse: [(_request, _options, response) => void statuses.push(response.status)] },
  });
  for (const url of urls) {
    const page = client.get(url).text();
    await page.then(
      () => ended(url),
      (error: unknown) => ended(url, error),
    );
  }
}
