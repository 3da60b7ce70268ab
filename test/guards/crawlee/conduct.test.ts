import { CheerioCrawler } from '@crawlee/cheerio';
import { HttpCrawler } from '@crawlee/http';
import { expect, it, vi } from 'vitest';
import { withRobots } from '../../../src/guards/crawlee/crawlee.ts';
import { inMemory } from '../../support/crawlee.ts';
import { makeAuthority } from '../../support/certificates.ts';
import { opened } from '../../support/opened.ts';
import { startRawSite } from '../../support/site.ts';
import { client, pagesOf, record, site } from './support.ts';

const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);

const AGENT = 'ExampleBot/1.0 (+https://example.com/bot)';

/** What the process was told of names. Crawlee and Node may warn of other things. */
const warnings = (): string[] =>
  warned.mock.calls
    .map(([message]) => String(message))
    .filter((text) => text.startsWith('robots.txt is checked'));

/** The `User-Agent` of each request for a page. */
async function agentsOf(
  identify: boolean | undefined,
  guard: typeof withRobots = withRobots,
): Promise<unknown[]> {
  const server = await site();
  const crawler = new (guard(HttpCrawler, client(), {
    agent: AGENT,
    ...(identify === undefined ? {} : { identify }),
  }))(
    { ...record().options, requestHandler: async ({ sendRequest }) => void (await sendRequest()) },
    inMemory(),
  );
  await crawler.run([server.url('/to?/page')]);
  expect(pagesOf(server)).toEqual(['/to?/page', '/page', '/to?/page', '/page']);
  const pages = server.requests.filter(({ url }) => url !== '/robots.txt');
  return pages.map(({ headers }) => headers['user-agent']);
}

it('`identify: true` requests pages under the name that robots.txt is checked for', async () => {
  const agents = await agentsOf(true);
  expect(agents).toEqual(Array(4).fill(AGENT));
  expect(warnings()).toEqual([]);
});

it('`identify: false` is silent, and leaves the name that Crawlee chooses', async () => {
  const agents = await agentsOf(false);
  expect(agents.every((agent) => String(agent).startsWith('Mozilla/5.0'))).toBe(true);
  expect(warnings()).toEqual([]);
});

it('otherwise the process is warned once, with the line that sends the name', async () => {
  // A copy of the package that has warned of nothing yet.
  vi.resetModules();
  const fresh = await import('../../../src/guards/crawlee/crawlee.ts');
  const agents = await agentsOf(undefined, fresh.withRobots);
  expect(agents.every((agent) => String(agent).startsWith('Mozilla/5.0'))).toBe(true);
  await agentsOf(undefined, fresh.withRobots);
  const texts = warnings();
  expect(texts).toHaveLength(1);
  expect(texts[0]).toMatch(
    /^robots.txt is checked for ExampleBot, but pages are requested as "Mozilla.*withRobots\(…, \{ identify: true \}\)/,
  );
});

it('a link is reported as skipped once a run, not once a page that has it', async () => {
  const pages = Array.from({ length: 5 }, (_, page) => `/${page}`);
  const server = await site([...pages, '/private/a', '/private/b']);
  const { options, handled, skipped } = record();
  const robots = client();
  await robots.check(server.origin);
  const crawler = new (withRobots(CheerioCrawler, robots))(
    {
      ...options,
      requestHandler: async ({ request, enqueueLinks }) => {
        handled.push(request.url);
        await enqueueLinks();
      },
    },
    inMemory(),
  );
  const skippedInRun = async (): Promise<string[]> => {
    skipped.length = 0;
    await crawler.run([server.url('/0')], { purgeRequestQueue: true });
    return skipped.map(({ url }) => new URL(url).pathname).sort();
  };
  expect(await skippedInRun()).toEqual(['/private/a', '/private/b']);
  expect(handled).toHaveLength(5);
});

it('a request that is refused at a redirect is skipped, and not counted as finished', async () => {
  const server = await site();
  const { options, handled, skipped, failed } = record();
  const crawler = new (withRobots(HttpCrawler, client()))(options, inMemory());
  const statistics = await crawler.run([server.url('/to?/private'), server.url('/page')]);
  expect(handled).toEqual([server.url('/page')]);
  expect(skipped).toHaveLength(1);
  expect(failed).toEqual([]);
  expect(statistics).toMatchObject({ requestsFinished: 1, requestsFailed: 0 });
});

it('a certificate that only pages may have is named with the option of Crawlee that accepts it', async () => {
  const identity = makeAuthority().issue({ host: 'localhost' });
  const server = opened(await startRawSite((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'), identity));
  const { options, skipped } = record();
  await new (withRobots(HttpCrawler, client()))(options, inMemory()).run([server.url('/page')]);
  expect(skipped[0]?.refusal?.message).toMatch(
    /`ignoreSslErrors` holds for pages alone: give the client a dispatcher/,
  );
});

it('a class is guarded once: a second guard would wait for the permit of the first', () => {
  const guarded = withRobots(CheerioCrawler, client());
  for (const each of [guarded, class extends guarded {}])
    expect(() => withRobots(each, client())).toThrow(
      expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' }),
    );
});
