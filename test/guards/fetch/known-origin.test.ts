import { describe, expect, it } from 'vitest';
import { guardFetch, type RobotsClient } from '../../../src/index.ts';
import { testClient } from '../../support/client.ts';
import { answer, type Site } from '../../support/site.ts';
import { pagesOf, site } from '../support.ts';

/** A site whose robots.txt the client has in memory, so that the guard needs no decision for what is allowed. */
async function known(): Promise<{ robots: RobotsClient; server: Site; guarded: typeof fetch }> {
  const server = await site(({ url = '' }, response) => {
    if (url === '/robots.txt') answer(response, { body: 'User-agent: *\nDisallow: /private\n' });
    else if (url === '/moved') answer(response, { status: 302, headers: { location: '/private' } });
    else if (url === '/busy') answer(response, { status: 503, headers: { 'retry-after': '60' } });
    else if (url === '/broken') response.destroy();
    else answer(response, { body: url });
  });
  const { client: robots } = testClient();
  await robots.prefetch([server.origin]);
  return { robots, server, guarded: guardFetch(fetch, robots) };
}

describe('guardFetch of a URL alone, whose origin is known', () => {
  it('counts one question for a page that is allowed, and one for a page that is not', async () => {
    const { robots, server, guarded } = await known();
    await (await guarded(server.url('/page'))).text();
    expect(robots.stats().hits).toBe(1);
    await expect(guarded(server.url('/private'))).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_ROBOTS_DISALLOWED' }),
    );
    expect(robots.stats().hits).toBe(2);
    await robots.close();
  });

  it('checks the redirects of a page that is allowed', async () => {
    const { robots, server, guarded } = await known();
    await expect(guarded(server.url('/moved'))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
      decision: { url: server.url('/private') },
    });
    expect(pagesOf(server)).toEqual(['GET /robots.txt', 'GET /moved']);
    await robots.close();
  });

  it('reports whether the site answers, and the pause that it asks for', async () => {
    const { robots, server, guarded } = await known();
    const reachable = async (): Promise<boolean | undefined> =>
      (await robots.policy(server.origin)).site?.reachable;
    expect(await reachable()).toBeUndefined();
    await (await guarded(server.url('/page'))).text();
    expect(await reachable()).toBe(true);
    await expect(guarded(server.url('/broken'))).rejects.toThrow('fetch failed');
    expect(await reachable()).toBe(false);
    await (await guarded(server.url('/page'))).text();
    await (await guarded(server.url('/busy'))).text();
    expect(await reachable()).toBe(false);
    const options = { maxDelayMs: 120_000 };
    expect(await robots.reserve(server.url('/page'), undefined, options)).toMatchObject({ waitMs: 60_000 });
    await robots.close();
  });

  it('rejects when the client is closed', async () => {
    const { robots, server, guarded } = await known();
    await robots.close();
    await expect(guarded(server.url('/page'))).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
    expect(pagesOf(server)).toEqual(['GET /robots.txt']);
  });
});
