import { guardFetch, refusalIn, RobotsClient } from 'canfetch';
import { type FakeOrigin, fakeOrigin, virtualClock } from 'canfetch/testing';

let site: FakeOrigin;
beforeEach(async () => {
  site = await fakeOrigin({ robots: 'User-agent: *\nDisallow: /private\nCrawl-delay: 60' });
});
afterEach(() => site.close());

test('a polite crawl, in no time', async () => {
  const clock = virtualClock({ autoAdvance: true });
  const robots = new RobotsClient({ agent: 'ExampleBot/1.0', clock });
  const fetchPolitely = guardFetch(fetch, robots, { pacing: true });
  const startedAt = clock.now();
  for (const path of ['/1', '/2']) await (await fetchPolitely(site.url(path))).text();
  expect(clock.now() - startedAt).toBe(60_500);
  const refusal = await fetchPolitely(site.url('/private')).catch((error: unknown) => refusalIn(error));
  expect(refusal).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
  expect(site.robotsCount).toBe(1);
  await robots.close();
});
