import { afterEach, describe, expect, it } from 'vitest';
import { guardFetch, RobotsClient } from '../../../src/index.ts';
import { opened, openedSite } from '../../support/opened.ts';
import { answer, type Site } from '../../support/site.ts';

const unguarded = globalThis.fetch;
afterEach(() => void (globalThis.fetch = unguarded));

/** Its robots.txt is on another path, which robots.txt disallows. */
function movedSite(): Promise<Site> {
  return openedSite((incoming, response) => {
    if (incoming.url === '/robots.txt')
      answer(response, { status: 301, headers: { location: '/moved/robots.txt' } });
    else if (incoming.url === '/moved/robots.txt')
      answer(response, { body: 'User-agent: *\nDisallow: /moved\nDisallow: /private' });
    else answer(response, { body: 'a page' });
  });
}

const openedClient = (options: ConstructorParameters<typeof RobotsClient>[0]): RobotsClient =>
  opened(new RobotsClient({ agent: 'ExampleBot', deadlineMs: 30_000, ...options }));

const pacing = { defaultDelayMs: 0 };

describe('a robots.txt that redirects within its site', () => {
  it.each<[string, (robots: RobotsClient) => typeof fetch]>([
    ['guarded by its client', (robots) => guardFetch(unguarded, robots)],
    ['paced by its client', (robots) => guardFetch(unguarded, robots, { pacing })],
    [
      'wrapped',
      (robots) => {
        const guarded = guardFetch(unguarded, robots, { pacing });
        return async (...args) => {
          await Promise.resolve();
          return guarded(...args);
        };
      },
    ],
    [
      'wrapped, with an init of its own',
      (robots) => {
        const guarded = guardFetch(unguarded, robots, { pacing, timeoutMs: 5_000 });
        return (input, init) => guarded(input, { ...init, credentials: 'omit' });
      },
    ],
    [
      'guarded by two clients',
      (robots) => guardFetch(guardFetch(unguarded, openedClient({}), { pacing }), robots, { pacing }),
    ],
  ])('is fetched over a global fetch that is %s', async (_, guard) => {
    const site = await movedSite();
    const robots = openedClient({ transport: 'fetch' });
    globalThis.fetch = guard(robots);
    expect(await (await fetch(site.url('/page'))).text()).toBe('a page');
    await expect(fetch(site.url('/private'))).rejects.toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
    // The redirect of robots.txt is no page.
    expect((await robots.policy(site.origin)).state).toBe('rules');
  });

  it('is fetched over the guarded fetch of another client', async () => {
    const site = await movedSite();
    const other = openedClient({});
    const fetchOfOther = guardFetch(unguarded, other, { pacing });
    const robots = openedClient({ transport: { fetch: fetchOfOther } });
    const guarded = guardFetch(fetchOfOther, robots, { pacing });
    expect(await (await guarded(site.url('/page'))).text()).toBe('a page');
  });
});
