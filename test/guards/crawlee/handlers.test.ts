import { BasicCrawler, CheerioCrawler } from '@crawlee/cheerio';
import { expect, it } from 'vitest';
import { withRobots } from '../../../src/guards/crawlee/crawlee.ts';
import { RobotsClient } from '../../../src/index.ts';
import { inMemory } from '../../support/crawlee.ts';
import { opened } from '../../support/opened.ts';
import { libraries } from '../libraries.ts';
import { pagesOf, record, site } from './support.ts';

const DELAY_MS = 150;
const pacing = { defaultDelayMs: DELAY_MS };

/** One of each kind. */
const kinds = libraries.filter(([name]) =>
  ['guardFetch', 'gotHooks', 'guardAxios over http', 'robotsInterceptor under request'].includes(name),
);
type Library = (typeof libraries)[number][1];

/** A crawl of `/page1` and `/page2`: which requests were sent, and how many gaps it took. */
async function crawl(
  Crawler: typeof CheerioCrawler,
  library: Library,
  handle: (get: ReturnType<Library>, url: string) => Promise<unknown>,
) {
  const server = await site();
  const begunAt = Date.now();
  const sent: { readonly path: string; readonly at: number }[] = [];
  const robots = opened(
    new RobotsClient({
      agent: 'ExampleBot',
      evidence: (entry) => {
        if (entry.type === 'request') sent.push({ path: new URL(entry.url).pathname, at: entry.startedAt });
      },
    }),
  );
  const get = library({ pacing }, robots);
  const { options, failed } = record();
  const crawler = new (withRobots(Crawler, robots, { pacing }))(
    {
      ...options,
      maxConcurrency: 2,
      requestHandler: ({ request: { url } }) => handle(get, url) as Promise<void>,
    },
    inMemory(),
  );
  await crawler.run([server.url('/page1'), server.url('/page2')]);
  expect(failed).toEqual([]);
  const tookMs = Math.max(...sent.map(({ at }) => at)) - begunAt;
  return { paths: sent.map(({ path }) => path).sort(), gaps: tookMs / DELAY_MS };
}

it.each(kinds)(
  'a handler of a paced crawler that gets another page of its site by %s keeps the gap, and does not wait for itself',
  async (_, library) => {
    const { paths, gaps } = await crawl(CheerioCrawler, library, (get, url) => get(`${url}-more`));
    expect(paths).toEqual(['/page1', '/page1-more', '/page2', '/page2-more']);
    // The request for robots.txt comes before them.
    expect(gaps).toBeGreaterThan(3.9);
  },
);

it.each(kinds)(
  'a handler of a `BasicCrawler` that gets its page by %s does so by the permit of the crawler',
  async (_, library) => {
    const Crawler = BasicCrawler as unknown as typeof CheerioCrawler;
    const { paths, gaps } = await crawl(Crawler, library, (get, url) => get(url));
    expect(paths).toEqual(['/page1', '/page2']);
    expect(gaps).toBeGreaterThan(1.9);
  },
);

it('a handler of a `BasicCrawler` may get another page before its own', async () => {
  const server = await site();
  const robots = opened(new RobotsClient({ agent: 'ExampleBot' }));
  const { options, failed } = record();
  const crawler = new (withRobots(BasicCrawler, robots, { pacing: { defaultDelayMs: 0 } }))(
    {
      ...options,
      requestHandler: async ({ request: { url }, sendRequest }) => {
        await sendRequest({ url: `${url}-more` });
        await sendRequest({ url });
      },
    },
    inMemory(),
  );
  await crawler.run([server.url('/page')]);
  expect(failed).toEqual([]);
  expect(pagesOf(server)).toEqual(['/page-more', '/page']);
});
