import { CheerioCrawler } from '@crawlee/cheerio';
import { expect, it } from 'vitest';
import { withRobots } from '../../../src/guards/crawlee/crawlee.ts';
import { crawlReport } from '../../../src/index.ts';
import { inMemory } from '../../support/crawlee.ts';
import { answer } from '../../support/site.ts';
import { site as plainSite } from '../support.ts';
import { client, record, site } from './support.ts';

it('the report of a crawl has each page once, and the look-ups of links apart', async () => {
  const links = ['/1', '/2', '/3', '/4', '/private/a', '/private/b'];
  const server = await site(links);
  const robots = client();
  using account = crawlReport(robots, { onFirstRefused: false });
  const { options, handled, skipped } = record();
  const crawler = new (withRobots(CheerioCrawler, robots))(
    {
      ...options,
      requestHandler: async ({ request, enqueueLinks }) => {
        handled.push(request.url);
        if (request.url === server.url('/page')) await enqueueLinks();
      },
    },
    inMemory(),
  );
  await crawler.run([server.url('/page'), server.url('/private/start')]);
  expect(handled).toHaveLength(5);
  expect(skipped).toHaveLength(3);
  expect(account.totals()).toMatchObject({
    sent: 5,
    refused: 1,
    linksLookedUp: 6,
    linksRefused: 2,
  });
  expect(account.refusals()).toMatchObject([{ refused: 1, linksRefused: 2, reason: 'rule' }]);
  expect(String(account)).toContain('5 requests sent, 1 refused, 6 links looked up, 2 links not queued\n');
});

it('a log says why a request is skipped: not "disallowed" where robots.txt is unreachable', async () => {
  const dead = await site([], (_, response) => void response.socket?.destroy());
  const server = await site();
  const crawler = new (withRobots(CheerioCrawler, client()))(record().options, inMemory());
  const logged: string[] = [];
  // What the crawler's own log writes with.
  Object.getPrototypeOf(crawler.log).warning = (message: string) => void logged.push(message);
  await crawler.run([dead.url('/page'), server.url('/private'), server.url('/to?/private')]);
  expect(logged).toHaveLength(3);
  for (const pattern of [
    `^Skipping request ${dead.url('/page')} .*robots.txt of .* is unreachable`,
    `^Skipping request ${server.url('/private')} .* disallows .*line 2`,
    `^Skipping request .* redirects to ${server.url('/private')}: robots.txt of .* disallows`,
  ]) {
    expect(logged).toContainEqual(expect.stringMatching(pattern));
  }
});

it('a page whose body breaks off is no success', async () => {
  const server = await plainSite((request, response) => {
    if (request.url === '/robots.txt') answer(response, { status: 404 });
    else {
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': 100 }).write('half');
      setImmediate(() => response.destroy());
    }
  });
  const robots = client();
  using account = crawlReport(robots, { onFirstRefused: false });
  const crawler = new (withRobots(CheerioCrawler, robots))(
    { ...record().options, maxRequestRetries: 0 },
    inMemory(),
  );
  await crawler.run([server.url('/page')]);
  expect(account.totals()).toMatchObject({ sent: 1, failed: 0, cut: 1, statuses: { 200: 1 } });
  expect(account.origins()).toMatchObject([{ pages: { success: 0, page_error: 1 } }]);
});
