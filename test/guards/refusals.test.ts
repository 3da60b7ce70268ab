import { fetch as undiciFetch } from 'undici';
import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Decision, guardFetch, refusalIn } from '../../src/index.ts';
import type { RobotsInit } from '../../src/guards/shared/options.ts';
import {
  decidedBy,
  pagesOf,
  realms,
  recording,
  redirecting,
  reportsTo,
  scriptedClient,
  sentUnchecked,
  site,
} from './support.ts';

const call = (...given: unknown[]): unknown => Reflect.apply(guardFetch, undefined, given);

describe.each(realms)('refusals, guarded around %s', (_, fetch) => {
  it('can be a 403 that carries the reason', async () => {
    const robots = scriptedClient('User-agent: *\n\nDisallow: /no*é\u{1F577} x');
    const reports = reportsTo(robots);
    const path = new URL('/no/é\u{1F577}%20x', 'https://example.com').pathname;
    const server = await site(redirecting({ '/ok': `${path}#f` }));
    const guarded = guardFetch(fetch, robots, { onDisallow: 'response' });
    const response = await guarded(server.url(path));
    expect([response.status, response.ok, response.url, response.redirected]).toEqual([
      403,
      false,
      server.url(path),
      false,
    ]);
    expect(response.headers.get('x-robots-reason')).toBe('rule');
    expect(refusalIn(response)?.decision?.rule).toMatchObject({ line: 3, pattern: '/no*é\u{1F577} x' });
    expect(await response.text()).toContain('robots.txt of');
    const hop = await guarded(server.url('/ok'));
    expect([hop.status, hop.url, hop.redirected, hop.clone().redirected]).toEqual([
      403,
      server.url(path),
      true,
      true,
    ]);
    expect(pagesOf(server)).toEqual(['GET /ok']);
    // Of the answers that were made up here the client hears nothing.
    expect(reports()).toEqual([[server.origin, true]]);
  });

  it.each([
    [61_001, '62'],
    [-5_000, '0'],
    [undefined, null],
  ])('can be a 503 with retry-after: due in %s ms is %s', async (dueMs, expected) => {
    const robots = scriptedClient('', {
      addressPolicy: 'public-only',
      transport: { fetch: async () => new Response('', { status: 500 }) },
    });
    // Of an address that the policy refuses nobody can say when to try again.
    const url = dueMs === undefined ? 'http://127.0.0.1/' : 'https://example.com/';
    const { retryAt = 0 } = await robots.check(url);
    const now = retryAt - (dueMs ?? 0);
    const guarded = guardFetch(fetch, robots, { onDisallow: 'response', clock: { now: () => now } });
    const response = await guarded(url);
    expect([
      response.status,
      response.headers.get('retry-after'),
      response.headers.get('x-robots-reason'),
    ]).toEqual([503, expected, 'unreachable']);
    await expect(guardFetch(fetch, robots)(url)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_UNREACHABLE',
    });
  });

  it('can be the result of a function of the decision', async () => {
    const seen: Decision[] = [];
    const server = await site(redirecting({ '/a': '/private' }));
    const guarded = guardFetch(fetch, scriptedClient(), {
      onDisallow: async (decision) => {
        seen.push(decision);
        return new Response('mine', { status: 451 });
      },
    });
    const response = await guarded(server.url('/a'));
    expect([response.status, await response.text()]).toEqual([451, 'mine']);
    expect(seen).toMatchObject([{ url: server.url('/private'), reason: 'rule' }]);
    expect(pagesOf(server)).toEqual(['GET /a']);
  });

  it('are told to onRefusal, and in a dry run nothing else happens', async () => {
    const server = await site(redirecting({ '/private/a': '/private/b' }));
    const received: string[] = [];
    const onRefusal = ({ url }: Decision): number => received.push(url);
    const robots = scriptedClient();
    const response = await guardFetch(fetch, robots, { mode: 'report', onRefusal })(server.url('/private/a'));
    expect([response.status, response.url]).toEqual([200, server.url('/private/b')]);
    expect(received.splice(0)).toEqual([server.url('/private/a'), server.url('/private/b')]);
    await expect(guardFetch(fetch, robots, { onRefusal })(server.url('/private/a'))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
    });
    expect(received).toEqual([server.url('/private/a')]);
    expect(server.requests).toHaveLength(2);
  });

  it('can be waived for one request, with a reason, which is recorded and not sent', async () => {
    const robots = scriptedClient();
    const decided = decidedBy(robots);
    const [recorded, calls] = recording(fetch);
    const ignored = sentUnchecked();
    const server = await site(redirecting({ '/private/a': '/private/b' }));
    const guarded = guardFetch(recorded, robots);
    const init: RequestInit & RobotsInit = {
      headers: { 'X-Own': '1' },
      robots: { ignore: true, because: 'the owner asked' },
    };
    expect((await guarded(server.url('/private/a'), init)).status).toBe(200);
    expect(ignored).toEqual(
      ['/private/a', '/private/b'].map((path) => ({ url: server.url(path), because: 'the owner asked' })),
    );
    expect(decided).toEqual([]);
    expect(calls).toHaveLength(2);
    for (const [, sent] of calls) expect(sent).not.toHaveProperty('robots');
    const asked: RequestInit & RobotsInit = { robots: { ignore: false, because: 'not today' } };
    await expect(guarded(server.url('/private/a'), asked)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
    });
    await guarded('data:,x', { ...init });
    expect(calls[2]![1]).not.toHaveProperty('robots');
  });

  it.each<[unknown, RegExp]>([
    [true, /^Expected `robots` to be an object such as/],
    [{ ignore: 'true', because: 'x' }, /`robots.ignore` to be true or false/],
    [{ ignore: true }, /Expected `robots.because` to be the reason, as text, got undefined/],
    [{ ignore: true, because: ' \n' }, /`robots.because` to be the reason/],
    [{ ignore: true, because: 'x', why: 1, who: 2 }, /only known options, got `robots.why`, `robots.who`$/],
  ])('are not waived by %j', async (robots, message) => {
    const server = await site(redirecting({}));
    const init: object = { robots };
    const guarded = guardFetch(fetch, scriptedClient());
    await expect(guarded(server.url('/'), init)).rejects.toThrow(message);
    await expect(guarded(server.url('/'), init)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
    });
    expect(server.requests).toHaveLength(0);
  });

  it('do not apply to requests that the filter leaves out, hop by hop', async () => {
    const robots = scriptedClient();
    const decided = decidedBy(robots);
    const server = await site(redirecting({ '/private/api/a': '/private/page' }));
    const guarded = guardFetch(fetch, robots, { filter: (url) => !url.pathname.startsWith('/private/api') });
    expect((await guarded(server.url('/private/api/b'))).status).toBe(200);
    await expect(guarded(server.url('/private/api/a'))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
    });
    expect(decided).toEqual([server.url('/private/page')]);
    expect(pagesOf(server)).toEqual(['GET /private/api/b', 'GET /private/api/a']);
  });

  it('of a nested guard are not signals of the site', async () => {
    const [inner, outer] = [scriptedClient(), scriptedClient('')];
    const reports = reportsTo(outer);
    await expect(
      guardFetch(guardFetch(fetch, inner), outer)('https://example.com/private'),
    ).rejects.toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
    expect(reports()).toEqual([]);
  });
});

describe('refusalIn', () => {
  it('finds it in the response of a guard, in its clones, and in the error of a client', async () => {
    const server = await site(redirecting({ '/a': '/private' }));
    const guarded = guardFetch(fetch, scriptedClient(), { onDisallow: 'response' });
    for (const path of ['/private', '/a']) {
      const response = await guarded(server.url(path));
      const refused = refusalIn(response);
      expect(refused).toMatchObject({
        code: 'ERR_ROBOTS_DISALLOWED',
        decision: { url: server.url('/private') },
      });
      expect(refusalIn(response.clone().clone())).toBe(refused);
      const error = Object.assign(new Error('403'), { response });
      expect(refusalIn(new Error('wrapped', { cause: error }))).toBe(refused);
    }
    expect(refusalIn(await guarded(server.url('/page')))).toBeUndefined();
    expect(refusalIn(Object.assign(new Error('403'), { response: new Response() }))).toBeUndefined();
  });
});

describe('guardFetch', () => {
  it('is typed like the fetch it wraps', () => {
    const robots = scriptedClient();
    expectTypeOf(guardFetch(globalThis.fetch, robots)).toExtend<typeof globalThis.fetch>();
    expectTypeOf(guardFetch(undiciFetch, robots, { agent: ['A', 'B'] })).toExtend<typeof undiciFetch>();
    // @ts-expect-error: what is answered with must be what the fetch answers with
    guardFetch(globalThis.fetch, robots, { onDisallow: () => 'text' });
  });

  it('asks about the agent it is told to', async () => {
    const robots = scriptedClient('User-agent: B\nUser-agent: ExampleBot\nDisallow: /');
    for (const [options, agent] of [
      [{ agent: ['A', 'B'] }, 'B'],
      [{}, 'ExampleBot'],
    ] as const) {
      await expect(guardFetch(fetch, robots, options)('https://example.com/')).rejects.toMatchObject({
        decision: { agent },
      });
    }
  });

  it('says what is wrong with its arguments', () => {
    const robots = scriptedClient();
    for (const [given, message] of [
      [['fetch', robots], /to be a fetch function, got string/],
      [[fetch], /^Expected the client to be a RobotsClient, got undefined/],
      [[fetch, { peek: () => undefined }], /^Expected the client to be a RobotsClient, got an object/],
      [[fetch, robots, { agnt: 'x' }], /only known options, got `agnt`/],
      [[fetch, robots, { agent: '' }], /`agent` to hold a product token/],
    ] as const)
      expect(() => call(...given)).toThrow(message);
  });

  it('follows the redirects of pages that msw answers, as it answers for robots.txt', async () => {
    const requested: string[] = [];
    const server = setupServer(
      http.all('https://mocked.example/*', ({ request }) => {
        const { pathname } = new URL(request.url);
        requested.push(`${request.method} ${pathname}`);
        if (pathname === '/robots.txt') return HttpResponse.text('User-agent: *\nDisallow: /private');
        if (pathname === '/page') return new HttpResponse('here');
        return new HttpResponse(null, {
          status: 302,
          headers: { location: pathname === '/go' ? '/page' : '/private' },
        });
      }),
    );
    server.listen({ onUnhandledRequest: 'error' });
    try {
      const robots = scriptedClient('', { transport: { fetch: (...given) => globalThis.fetch(...given) } });
      const guarded = guardFetch(globalThis.fetch, robots);
      const response = await guarded('https://mocked.example/go', { method: 'POST', body: 'x' });
      expect([response.url, response.redirected, await response.text()]).toEqual([
        'https://mocked.example/page',
        true,
        'here',
      ]);
      await expect(guarded('https://mocked.example/astray')).rejects.toMatchObject({
        code: 'ERR_ROBOTS_DISALLOWED',
      });
      expect(requested).toEqual(['GET /robots.txt', 'POST /go', 'GET /page', 'GET /astray']);
    } finally {
      server.close();
    }
  });
});
