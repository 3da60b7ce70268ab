import axios from 'axios';
import pLimit from 'p-limit';
import { guardAxios } from '../../src/guards/axios/axios.ts';
import type { Crawl } from './crawl.ts';

/** axios behind p-limit, with a validator of its own. */
export default async function axiosByConcurrency({ robots, pacing, urls, ended }: Crawl): Promise<void> {
  const client = guardAxios(axios.create({ adapter: 'fetch', validateStatus: () => true }), robots, {
    pacing,
  });
  const limit = pLimit(3);
  await Promise.all(
    urls.map((url) =>
      limit(() =>
        client.get(url).then(
          () => ended(url),
          (error: unknown) => ended(url, error),
        ),
      ),
    ),
  );
}
