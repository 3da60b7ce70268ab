import { CheerioCrawler } from '@crawlee/cheerio';
import { RobotsClient } from 'canfetch';
import { withRobots } from 'canfetch/crawlee';

const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
const PoliteCrawler = withRobots(CheerioCrawler, robots, { pacing: true });

// --- its test
import assert from 'node:assert/strict';
import { Configuration } from '@crawlee/cheerio';
import { fakeOrigin } from 'canfetch/testing';

const html = (body) => ({ status: 200, headers: { 'content-type': 'text/html' }, body });
await using site = await fakeOrigin({
  robots: 'User-agent: *\nDisallow: /private\nCrawl-delay: 0',
  pages: {
    '/': html('<a href="/page">1</a><a href="/private">2</a><a href="/page">3</a>'),
    '/page': html('<a href="/private">again</a>'),
  },
});
const skipped = [];
const crawler = new PoliteCrawler(
  {
    requestHandler: ({ enqueueLinks }) => enqueueLinks(),
    onSkippedRequest: ({ url, reason }) => void skipped.push([url, reason]),
  },
  new Configuration({ persistStorage: false }),
);
const { requestsFinished, requestsFailed } = await crawler.run([site.url('/')]);
assert.deepEqual([requestsFinished, requestsFailed], [2, 0]);
assert.deepEqual(skipped, [[site.url('/private'), 'robotsTxt']], 'once, however often it is seen');
assert.deepEqual([site.count('/page'), site.count('/private'), site.robotsCount], [1, 0, 1]);
await robots.close();
