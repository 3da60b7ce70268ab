import { describe, expect, it } from 'vitest';
import { profiles } from '../../../src/index.ts';
import { DAY, HOUR, MINUTE, SECOND, START, testClient, VirtualClock } from '../../support/client.ts';
import { ScriptedStore } from '../../support/store.ts';
import { answering, openedSite as site, openedClient as client } from '../../support/opened.ts';
import { DEFAULT_MAX_BODY_BYTES } from '../../../src/core/base/index.ts';
import { movedTo } from '../../support/site.ts';

const RULES = 'User-agent: *\nDisallow: /private\nCrawl-delay: 2\n\nUser-agent: OtherBot\nDisallow: /other\n';

describe('policy', () => {
  it('has everything known about an origin', async () => {
    const { robots, server } = await answering({
      body: `${RULES}\nSitemap: https://example.com/map.xml\n`,
      headers: { 'content-type': 'text/plain' },
    });
    const policy = await robots.policy(server.origin);
    expect(policy).toMatchObject({
      origin: server.origin,
      state: 'rules',
      crawlDelayMs: 2000,
      file: { truncated: false, contentType: 'text/plain', fetchedAt: START },
      sitemaps: [{ url: 'https://example.com/map.xml' }],
    });
    expect(policy.groups.map((group) => group.agentLines[0]?.names[0])).toEqual(['*', 'OtherBot']);
    expect(policy.rules?.check('/private', 'x').allowed).toBe(false);
    expect(await robots.policy(server.url('/any'))).toMatchObject({ robots: { source: 'memory' } });
    expect(server.requests).toHaveLength(1);
  });

  it('resolves the URLs of sitemaps against the URL that the file was found at, and keeps what is written', async () => {
    const file = [
      'Sitemap: https://example.com/map.xml\nSitemap: maps/news.xml',
      'Sitemap: //cdn.example/map.xml\nSitemap: HTTPS://EXAMPLE.com/x y.xml\nSitemap: http://[',
    ].join('\n');
    const { client } = testClient({
      transport: {
        fetch: (url) =>
          Promise.resolve(
            url === 'https://a.example/robots.txt'
              ? new Response(null, {
                  status: 301,
                  headers: { location: 'https://b.example/files/robots.txt' },
                })
              : new Response(file),
          ),
      },
    });
    await using _ = client;
    const expected = [
      { url: 'https://example.com/map.xml', line: 1 },
      { url: 'https://b.example/files/maps/news.xml', line: 2, written: 'maps/news.xml' },
      { url: 'https://cdn.example/map.xml', line: 3, written: '//cdn.example/map.xml' },
      { url: 'HTTPS://EXAMPLE.com/x y.xml', line: 4 },
      { url: 'http://[', line: 5 },
    ];
    const policy = await client.policy('https://a.example/');
    expect(policy.sitemaps).toEqual(expected);
    // The rules alone know no URL.
    expect(policy.rules?.sitemaps[1]).toEqual({ url: 'maps/news.xml', line: 2 });
  });

  it('has the hops, the fields and the reason for the lifetime', async () => {
    const { robots } = client({ random: () => 0.5 });
    const server = await site({
      '/robots.txt': movedTo('/r.txt', 301),
      '/r.txt': { body: RULES, headers: { 'cache-control': 'max-age=60', etag: '"1"' } },
    });
    const policy = await robots.policy(server.origin);
    expect(policy.attempt).toEqual({
      kind: 'success',
      at: START,
      hops: [
        { url: server.url('/robots.txt'), status: 301, location: '/r.txt' },
        { url: server.url('/r.txt'), status: 200 },
      ],
      headers: { cacheControl: 'max-age=60', etag: '"1"', date: expect.any(String) },
    });
    expect(policy.lifetime).toEqual({
      fetchedAt: START,
      staleAt: START + 9.5 * MINUTE,
      jitterMs: 0.5 * MINUTE,
      why: { source: 'max-age', seconds: 60, ageSeconds: 0, lifetimeMs: 10 * MINUTE, clampedBy: 'min' },
    });
    expect(policy.nextAttempt).toEqual({ at: START + 8.55 * MINUTE, why: 'refresh-ahead' });
    expect(policy.file).toMatchObject({ sizeBytes: RULES.length, limitBytes: DEFAULT_MAX_BODY_BYTES });
    expect(policy.file?.finalUrl).toBe(server.url('/r.txt'));
  });

  it.each([
    ['an agent, as `check` takes it', 'ExampleBot', 'got "ExampleBot" (string)'],
    ['a list of agents', ['ExampleBot'], 'got a list'],
    ['another option', { agnet: 'ExampleBot' }, 'did you mean `agent`?'],
    ['a signal that is none', { signal: {} }, 'Expected `signal` to be an AbortSignal'],
  ])('is refused with %s as its options', async (_, options, message) => {
    const { robots } = client();
    await expect(robots.policy('https://example.com', options as object)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
      message: expect.stringContaining(message),
    });
  });

  it('has the request rate of the agent, where there is one', async () => {
    const { robots, server } = await answering({
      body: 'User-agent: SlowBot\nRequest-rate: 1/30\n\nUser-agent: *\nDisallow:\n',
    });
    expect((await robots.policy(server.origin, { agent: 'SlowBot' })).requestRateMs).toBe(30 * SECOND);
    expect(await robots.policy(server.origin)).not.toHaveProperty('requestRateMs');
  });

  it('has the reason why an origin is unavailable, where it is not the status', async () => {
    const { robots } = client();
    const looping = await site({ '/robots.txt': movedTo('/robots.txt') });
    expect((await robots.policy(looping.origin)).attempt).toMatchObject({
      kind: 'unavailable',
      unavailable: 'redirect-loop',
    });
    const missing = await site({ '/robots.txt': { status: 404 } });
    expect((await robots.policy(missing.origin)).attempt).not.toHaveProperty('unavailable');
  });

  it('has no reason for a lifetime that the profile does not explain', async () => {
    const server = await site({
      '/robots.txt': { body: RULES, headers: { 'cache-control': 'max-age=3600' } },
    });
    const store = new ScriptedStore({ clock: new VirtualClock() });
    const maker = client({ random: () => 0.5, store }).robots;
    await maker.prefetch([server.origin]);
    await maker.close();
    const lifetimeUnder = async (defaultMs: number, minMs: number) => {
      const lifetime = { defaultMs, minMs, maxMs: 24 * HOUR };
      const { robots } = client({ profile: { ...profiles.rfc9309, lifetime }, store });
      return (await robots.policy(server.origin)).lifetime;
    };
    const times = { fetchedAt: START, staleAt: START + 0.95 * HOUR };
    expect(await lifetimeUnder(HOUR, MINUTE)).toMatchObject({ ...times, why: { source: 'max-age' } });
    expect(await lifetimeUnder(2 * HOUR, 2 * HOUR)).toStrictEqual(times);
  });

  it('distinguishes a 304 from a new file', async () => {
    const { robots, clock } = client();
    const server = await site((request, response) => {
      const known = request.headers['if-none-match'] === '"1"';
      response.writeHead(known ? 304 : 200, { etag: '"1"' }).end(known ? '' : RULES);
    });
    await robots.policy(server.origin);
    clock.advance(25 * HOUR);
    const policy = await robots.policy(server.origin);
    expect(policy).toMatchObject({
      state: 'rules',
      robots: { status: 200 },
      attempt: { kind: 'not-modified', hops: [{ status: 304 }] },
      file: { fetchedAt: START + 25 * HOUR },
    });
  });

  it('is about the agent asked for', async () => {
    const { robots, server } = await answering({ body: RULES });
    expect(await robots.policy(server.origin)).toMatchObject({ agent: 'ExampleBot', group: { agent: '*' } });
    const other = await robots.policy(server.origin, { agent: ['Nobody', 'OtherBot/2.0'] });
    expect(other).toMatchObject({ agent: 'OtherBot', group: { agent: 'OtherBot' } });
    expect(other).not.toHaveProperty('crawlDelayMs');
    const any = await robots.policy(server.origin, { agent: ['*'] });
    expect(any).toMatchObject({ agent: '*', group: { agent: '*' } });
  });

  it('says whether the next attempt waits for the backoff or for Retry-After', async () => {
    const { robots, clock, server } = await answering([
      { status: 503, headers: { 'retry-after': '0' } },
      { status: 429, headers: { 'retry-after': new Date(START - DAY).toUTCString() } },
      { status: 429, headers: { 'retry-after': '90' } },
    ]);
    expect((await robots.policy(server.origin)).nextAttempt).toMatchObject({ why: 'backoff', failures: 1 });
    clock.advance(30 * SECOND);
    expect((await robots.policy(server.origin)).nextAttempt).toEqual({
      at: START + 90 * SECOND,
      why: 'backoff',
      failures: 2,
    });
    clock.advance(60 * SECOND);
    const last = await robots.policy(server.origin);
    expect(last.nextAttempt).toEqual({ at: START + 180 * SECOND, why: 'retry-after', pauseMs: 90_000 });
    expect(last.attempt).toMatchObject({
      kind: 'unreachable',
      error: 'ERR_ROBOTS_STATUS',
      headers: { retryAfter: '90' },
    });
  });
});
