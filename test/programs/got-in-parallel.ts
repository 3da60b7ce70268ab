import got from 'got';
import { gotHooks } from '../../src/guards/got/got.ts';
import type { Crawl } from './crawl.ts';

/** got, with promises and streams side by side. */
export default async function gotInParallel({ robots, pacing, urls, ended }: Crawl): Promise<void> {
  const client = got.extend(gotHooks(robots, { pacing }), { throwHttpErrors: false });
  const stream = async (url: string): Promise<void> => {
    for await (const chunk of client.stream(url)) if (String(chunk) === '') return;
  };
  await Promise.all(
    urls.map((url, index) =>
      (index % 2 === 0 ? client(url).text() : stream(url)).then(
        () => ended(url),
        (error: unknown) => ended(url, error),
      ),
    ),
  );
}
