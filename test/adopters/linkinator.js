import { RobotsClient } from 'canfetch';
import { LinkChecker } from 'linkinator';

const robots = new RobotsClient({ agent: 'linkinator/6.3' });
/** linkinator skips a link when this resolves to true. */
const linksToSkip = async (link) => /^https?:/.test(link) && !(await robots.canFetch(link));

// --- its test
import assert from 'node:assert/strict';
import { fakeOrigin } from 'canfetch/testing';

const html = (body) => ({ status: 200, headers: { 'content-type': 'text/html' }, body });
await using other = await fakeOrigin({ robots: { status: 503 } });
await using site = await fakeOrigin({
  robots: 'User-agent: linkinator\nDisallow: /private',
  pages: {
    '/': html(`<a href="/page">1</a><a href="/private">2</a><a href="${other.url('/x')}">3</a>`),
    '/page': html('<p>hello</p>'),
  },
});
const { links, passed } = await new LinkChecker().check({ path: site.url('/'), recurse: true, linksToSkip });
const stateOf = (url) => links.find((link) => link.url === url)?.state;
assert.equal(passed, true);
assert.equal(stateOf(site.url('/page')), 'OK');
assert.equal(stateOf(site.url('/private')), 'SKIPPED');
assert.equal(stateOf(other.url('/x')), 'SKIPPED', 'a failing robots.txt is no permission');
assert.deepEqual([site.count('/private'), site.robotsCount, other.pageCount], [0, 1, 0]);
await robots.close();
