import nodeFetch from 'node-fetch';
import { describe, expect, it } from 'vitest';
import { guardFetch } from '../../../src/index.ts';
import { Moment } from '../../support/moment.ts';
import { answer } from '../../support/site.ts';
import {
  clientThatWaits,
  decidedBy,
  echo,
  endlessRedirect,
  pagesOf,
  realms,
  recording,
  redirecting,
  reportsTo,
  scriptedClient,
  site,
  streamOf,
} from '../support.ts';

it.each<[string, typeof fetch]>([
  ...realms.map(([name, fetch]): [string, typeof fetch] => [name, fetch]),
  // Its bodies are streams of Node.
  ['node-fetch', nodeFetch as unknown as typeof fetch],
])(
  '%s: the socket of a redirect whose body never ends is free before the next hop is decided',
  async (_, fetch) => {
    const freed = new Moment();
    const other = await site(echo);
    const server = await site(endlessRedirect(other.url('/b'), freed));
    const robots = clientThatWaits(other.origin, freed);
    const response = await guardFetch(fetch, robots)(server.url('/a'));
    expect([response.url, response.redirected, response.clone().redirected]).toEqual([
      other.url('/b'),
      true,
      true,
    ]);
    expect([pagesOf(server), pagesOf(other)]).toEqual([['GET /a'], ['GET /b']]);
  },
);

describe.each(realms)('redirects, guarded around %s', (_, fetch, OwnRequest) => {
  it('asks about each hop before it is requested, with its own URL', async () => {
    const robots = scriptedClient();
    const [decided, reports] = [decidedBy(robots), reportsTo(robots)];
    const other = await site(echo);
    const first = await site(redirecting({ '/a': '/b?x=1', '/b?x=1': other.url('/c') }));
    await guardFetch(fetch, robots)(first.url('/a'));
    expect(decided).toEqual([first.url('/a'), first.url('/b?x=1'), other.url('/c')]);
    expect(pagesOf(first)).toEqual(['GET /a', 'GET /b?x=1']);
    expect(pagesOf(other)).toEqual(['GET /c']);
    expect(reports()).toEqual([first, first, other].map(({ origin }) => [origin, true]));
  });

  it.each([
    [301, 'PUT'],
    [301, 'POST'],
    [302, 'PUT'],
    [302, 'POST'],
    [307, 'POST'],
    [308, 'POST'],
  ])('a stream ends at a %i of %s, as without the guard', async (status, method) => {
    const server = await site(redirecting({ '/a': '/b' }, status));
    for (const send of [fetch, guardFetch(fetch, scriptedClient())]) {
      const init = { method, body: streamOf('once'), duplex: 'half' as const };
      await expect(send(server.url('/a'), init)).rejects.toThrow(TypeError);
    }
    expect(pagesOf(server)).toEqual([`${method} /a`, `${method} /a`]);
  });

  it('a stream is dropped at a 303, as without the guard', async () => {
    const server = await site(redirecting({ '/a': '/b' }, 303));
    for (const send of [fetch, guardFetch(fetch, scriptedClient())]) {
      await send(server.url('/a'), { method: 'POST', body: streamOf('once'), duplex: 'half' });
    }
    expect(pagesOf(server)).toEqual(['POST /a', 'GET /b', 'POST /a', 'GET /b']);
  });

  it('is of type `cors` once it was at another origin, also on a clone, as without the guard', async () => {
    const other = await site(echo);
    const start = await site(redirecting({ '/out': other.url('/end'), '/same': '/end' }));
    const guarded = guardFetch(fetch, scriptedClient());
    for (const [url, type] of [
      [start.url('/end'), 'basic'],
      [start.url('/same'), 'basic'],
      [start.url('/out'), 'cors'],
    ] as const) {
      const response = await guarded(url);
      expect([response.type, response.clone().type, response.clone().clone().type]).toEqual([
        type,
        type,
        type,
      ]);
      expect(response.type).toBe((await fetch(url)).type);
    }
  });

  it("with mode 'same-origin' never leaves the origin, as without the guard", async () => {
    const other = await site(echo);
    const server = await site(redirecting({ '/out': other.url('/'), '/same': '/end' }));
    const robots = scriptedClient();
    const decided = decidedBy(robots);
    const guarded = guardFetch(fetch, robots);
    for (const send of [fetch, guarded]) {
      expect((await send(server.url('/same'), { mode: 'same-origin' })).status).toBe(200);
      await expect(send(server.url('/out'), { mode: 'same-origin' })).rejects.toThrow(TypeError);
      const request = new OwnRequest(server.url('/out'), { mode: 'same-origin' });
      await expect(send(request)).rejects.toThrow(TypeError);
      // What init says wins over the Request.
      expect((await send(request, { mode: 'cors' })).status).toBe(200);
      expect(other.requests.splice(0)).toHaveLength(1);
    }
    expect(decided.filter((url) => url.startsWith(other.origin))).toEqual([other.url('/')]);
  });

  it('follows twenty redirects; the twenty-first is a TypeError', async () => {
    const server = await site((request, response) => {
      const left = Number(request.url?.slice(1));
      answer(response, left === 0 ? {} : { status: 302, headers: { location: `/${left - 1}` } });
    });
    const robots = scriptedClient();
    const decided = decidedBy(robots);
    const guarded = guardFetch(fetch, robots);
    expect((await guarded(server.url('/20'))).status).toBe(200);
    expect(server.requests).toHaveLength(21);
    await expect(guarded(server.url('/121'))).rejects.toMatchObject({
      message: expect.stringMatching(/more than 20 redirects/),
      cause: new Error('more than 20 redirects'),
    });
    expect(server.requests).toHaveLength(42);
    expect(decided).toHaveLength(42);
  });

  it.each(['ftp://example.com/', 'http://', 'javascript:1', 'data:,x', 'http://user:word@example.com/'])(
    'a redirect to %s is a TypeError',
    async (location) => {
      const robots = scriptedClient();
      const decided = decidedBy(robots);
      const server = await site(redirecting({ '/': location }));
      await expect(guardFetch(fetch, robots)(server.url('/'))).rejects.toThrow(TypeError);
      expect(decided).toEqual([server.url('/')]);
    },
  );

  it('reads a Location of raw UTF-8 as the wrapped fetch does, and asks about that URL', async () => {
    const robots = scriptedClient();
    const decided = decidedBy(robots);
    const server = await site(redirecting({ '/a': Buffer.from('/é').toString('latin1') }));
    expect((await fetch(server.url('/a'))).url).toBe(server.url('/%C3%A9'));
    await guardFetch(fetch, robots)(server.url('/a'));
    expect(decided[1]).toBe(server.url('/%C3%A9'));
    expect(pagesOf(server).slice(2)).toEqual(['GET /a', 'GET /%C3%A9']);
  });

  it('hands a fragment on, unless the Location has one, even an empty one', async () => {
    const [recorded, calls] = recording(fetch);
    const server = await site(redirecting({ '/a': '/b', '/b': '/c#own', '/c': '/d#', '/d': '/e' }));
    const response = await guardFetch(recorded, scriptedClient())(server.url('/a#top'));
    expect(calls.map(([url]) => String(url).slice(server.origin.length))).toEqual([
      '/a#top',
      '/b#top',
      '/c#own',
      '/d#',
      '/e',
    ]);
    expect(response.url).toBe(server.url('/e'));
  });

  it('leaves `manual` and `error` to the wrapped fetch: asked once, sent once', async () => {
    const robots = scriptedClient();
    const [decided, reports] = [decidedBy(robots), reportsTo(robots)];
    const server = await site(redirecting({ '/a': '/private' }));
    const guarded = guardFetch(fetch, robots);
    expect((await guarded(server.url('/a'), { redirect: 'manual' })).headers.get('location')).toBe(
      '/private',
    );
    await expect(guarded(server.url('/a'), { redirect: 'error' })).rejects.toThrow(TypeError);
    await expect(guarded(server.url('/private'), { redirect: 'manual' })).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
    });
    expect(pagesOf(server)).toEqual(['GET /a', 'GET /a']);
    expect(decided).toHaveLength(3);
    // Whether the second failed for a redirect or for a dead network cannot be told.
    expect(reports()).toEqual([[server.origin, true]]);
  });
});
