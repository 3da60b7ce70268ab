import { RobotsClient } from 'canfetch';
import { gotHooks } from 'canfetch/got';

/** A plugin of website-scraper: every resource, and every redirect, is asked about before it is requested. */
class RobotsPlugin {
  constructor(robots) {
    this.robots = robots;
  }

  apply(registerAction) {
    const { hooks } = gotHooks(this.robots);
    registerAction('beforeRequest', ({ requestOptions }) => ({
      requestOptions: { ...requestOptions, hooks },
    }));
    registerAction('afterFinish', () => this.robots.close());
  }
}

// --- its test
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fakeOrigin } from 'canfetch/testing';
import scrape from 'website-scraper';

const html = (body) => ({ status: 200, headers: { 'content-type': 'text/html' }, body });
await using site = await fakeOrigin({
  robots: 'User-agent: *\nDisallow: /private',
  pages: {
    '/': html('<a href="/page">1</a><a href="/private">2</a><a href="/moved">3</a>'),
    '/page': html('<p>hello</p>'),
    '/moved': { redirect: '/private' },
  },
});
const failed = [];
await scrape({
  urls: [site.url('/')],
  directory: join(mkdtempSync(join(tmpdir(), 'adopter-')), 'site'),
  recursive: true,
  maxDepth: 2,
  plugins: [
    new RobotsPlugin(new RobotsClient({ agent: 'ExampleBot/1.0' })),
    {
      apply: (on) =>
        on('onResourceError', ({ resource, error }) => failed.push([resource.getUrl(), error.code])),
    },
  ],
});
assert.deepEqual(failed.sort(), [
  [site.url('/moved'), 'ERR_ROBOTS_DISALLOWED'],
  [site.url('/private'), 'ERR_ROBOTS_DISALLOWED'],
]);
assert.deepEqual(
  [site.count('/page'), site.count('/moved'), site.count('/private'), site.robotsCount],
  [1, 1, 0, 1],
);
