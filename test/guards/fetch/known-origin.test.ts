import { describe, expect, it } from 'vitest';
import { guardFetch, type RobotsClient } from '../../../src/index.ts';
import { testClient } from '../../support/client.ts';
import { answer, type Site } from '../../support/site.ts';
import { site } from '../support.ts';

/** A site whose robots.txt the client has in memory, so that the guard needs no decision for what is allowed. */
async function known(): Promise<{ robots: RobotsClient; server: Site; guarded: typeof fetch }> {
  const server = await site(({ url = '' }, response) => {
    if (url === '/robots.txt') answer(response, { body: 'User-agent: *\nDisallow: /private\n' });
    else if (url === '/busy') answer(response, { status: 503, headers: { 'retry-after': '60' } });
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

  it('knows the pause that the site asks for', async () => {
    const { robots, server, guarded } = await known();
    await (await guarded(server.url('/busy'))).text();
    const options = { maxDelayMs: 120_000 };
    expect(await robots.reserve(server.url('/page'), undefined, options)).toMatchObject({ waitMs: 60_000 });
    await robots.close();
  });
});
