import { fetch as undiciFetch, Request as UndiciRequest } from 'undici';
import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { describe, expect, it } from 'vitest';
import { guardFetch, type RobotsClient } from '../../../src/index.ts';
import { testClient } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { answer, type Handler, type Site, startSite } from '../../support/site.ts';
import { opened, openedClient, openedSite } from '../../support/opened.ts';

/** A site with rules; `pages` answers the rest. */
async function site(pages: Handler, robots = 'User-agent: *\nDisallow: /private\n'): Promise<Site> {
  return openedSite((request, response) => {
    if (request.url === '/robots.txt') answer(response, { body: robots });
    else pages(request, response);
  });
}

const client = (): RobotsClient => openedClient().robots;

const pagesOf = (each: Site): string[] =>
  each.requests.filter(({ url }) => url !== '/robots.txt').map(({ method, url }) => `${method} ${url}`);
const to =
  (location: string, status = 302): Handler =>
  (_, response) =>
    answer(response, { status, headers: { location } });
/** Answers with what arrived. */
const echo: Handler = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { method, url, headers } = request;
    answer(response, {
      body: JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }),
    });
  });
};

const call = (...given: unknown[]): unknown => Reflect.apply(guardFetch, undefined, given);

// Both take and give what the standard says; their types differ in name only.
const fetches: readonly [name: string, fetch: typeof globalThis.fetch][] = [
  ['the global fetch', globalThis.fetch],
  ['the fetch of undici', undiciFetch as unknown as typeof globalThis.fetch],
];

describe.each(fetches)('guardFetch around %s', (_, fetch) => {
  it('lets an allowed request through', async () => {
    const robots = client();
    const server = await site((_request, response) => answer(response, { body: 'hello' }));
    const response = await guardFetch(fetch, robots)(server.url('/page#f'));
    expect(await response.text()).toBe('hello');
    expect({ url: response.url, redirected: response.redirected }).toEqual({
      url: server.url('/page'),
      redirected: false,
    });
    expect(pagesOf(server)).toEqual(['GET /page']);
  });

  it('sends the URL that was decided, without the dot segments that Node 20 and 22 keep', async () => {
    const robots = client();
    const server = await site((_request, response) => answer(response, { body: 'hello' }));
    await robots.prefetch([server.origin]);
    await (await guardFetch(fetch, robots)(server.url('/docs/.cfg/../page'))).text();
    expect(pagesOf(server)).toEqual(['GET /docs/page']);
  });

  it('refuses a disallowed one, which never reaches the site', async () => {
    const robots = client();
    const server = await site(echo);
    await expect(guardFetch(fetch, robots)(new URL(server.url('/private/x')))).rejects.toMatchObject({
      name: 'RobotsDisallowedError',
      code: 'ERR_ROBOTS_DISALLOWED',
      decision: { url: server.url('/private/x'), rule: { line: 2 } },
    });
    expect(pagesOf(server)).toEqual([]);
  });

  it('refuses while robots.txt is unreachable, and says when to come back', async () => {
    const robots = client();
    const server = await startSite({ '/robots.txt': { status: 503, headers: { 'retry-after': '60' } } });
    opened(server);
    await expect(guardFetch(fetch, robots)(server.url('/'))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_UNREACHABLE',
      retryAt: expect.any(Number),
      decision: { robots: { status: 503 } },
    });
    expect(pagesOf(server)).toEqual([]);
  });

  it('refuses a redirect into a disallowed path before it is requested', async () => {
    const robots = client();
    const server = await site(to('/private/y'));
    await expect(guardFetch(fetch, robots)(server.url('/go'))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
      decision: { url: server.url('/private/y') },
    });
    expect(pagesOf(server)).toEqual(['GET /go']);
  });

  it('holds each hop against the robots.txt of its own origin', async () => {
    const robots = client();
    const closed = await site(echo, 'User-agent: *\nDisallow: /\n');
    const first = await site((request, response) =>
      to(request.url === '/out' ? closed.url('/in') : '/fine')(request, response),
    );
    await expect(guardFetch(fetch, robots)(first.url('/out'))).rejects.toMatchObject({
      decision: { origin: closed.origin },
    });
    expect(pagesOf(closed)).toEqual([]);
    expect(closed.requests).toHaveLength(1);
  });

  it('says where a chain of redirects ended, also of a clone', async () => {
    const robots = client();
    const server = await site((request, response) =>
      request.url === '/end' ? echo(request, response) : to('/end')(request, response),
    );
    const response = await guardFetch(fetch, robots)(server.url('/start'));
    expect(response.redirected).toBe(true);
    expect(response.clone().redirected).toBe(true);
    expect(response.url).toBe(server.url('/end'));
    expect(await response.json()).toMatchObject({ url: '/end' });
  });

  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [303, 'HEAD', 'HEAD', ''],
    [307, 'POST', 'POST', 'payload'],
    [308, 'PUT', 'PUT', 'payload'],
    [301, 'PUT', 'PUT', 'payload'],
  ])('%i turns %s into %s', async (status, method, expected, payload) => {
    const robots = client();
    const server = await site((request, response) =>
      request.url === '/end' ? echo(request, response) : to('/end', status)(request, response),
    );
    const response = await guardFetch(fetch, robots)(server.url('/start'), {
      method,
      headers: { 'content-type': 'text/x', 'x-kept': '1' },
      ...(method === 'HEAD' ? {} : { body: 'payload' }),
    });
    expect(response.status).toBe(200);
    expect(pagesOf(server)).toEqual([`${method} /start`, `${expected} /end`]);
    if (expected === 'HEAD') return;
    const seen: unknown = await response.json();
    expect(seen).toMatchObject({ body: payload, headers: { 'x-kept': '1' } });
    if (payload === '') expect(seen).not.toHaveProperty('headers.content-type', 'text/x');
  });

  it('keeps credentials from other origins', async () => {
    const robots = client();
    const other = await site(echo);
    const first = await site((request, response) =>
      to(request.url === '/a' ? '/b' : other.url('/c'))(request, response),
    );
    const headers = { authorization: 'Bearer x', cookie: 'a=b', 'x-kept': '1' };
    const response = await guardFetch(fetch, robots)(first.url('/a'), { headers });
    expect(first.requests.at(-1)).toMatchObject({ url: '/b', headers: { authorization: 'Bearer x' } });
    const seen = (await response.json()) as { headers: object };
    expect(seen.headers).toMatchObject({ 'x-kept': '1' });
    expect(seen.headers).not.toHaveProperty('authorization');
    expect(seen.headers).not.toHaveProperty('cookie');
  });

  it('follows twenty redirects, not twenty-one', async () => {
    const robots = client();
    const server = await site((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) answer(response, { body: 'there' });
      else to(`/${left - 1}`)(request, response);
    });
    expect((await guardFetch(fetch, robots)(server.url('/20'))).status).toBe(200);
    await expect(guardFetch(fetch, robots)(server.url('/21'))).rejects.toThrow(TypeError);
  });

  it.each(['ftp://example.com/', 'http://', 'javascript:1'])(
    'a redirect to %s is an error',
    async (location) => {
      const robots = client();
      const server = await site(to(location));
      await expect(guardFetch(fetch, robots)(server.url('/'))).rejects.toThrow(TypeError);
    },
  );

  it('leaves `manual` and `error` to the fetch it wraps', async () => {
    const robots = client();
    const server = await site(to('/private'));
    const guarded = guardFetch(fetch, robots);
    expect((await guarded(server.url('/a'), { redirect: 'manual' })).status).toBe(302);
    await expect(guarded(server.url('/a'), { redirect: 'error' })).rejects.toThrow(TypeError);
    await expect(guarded(server.url('/private'), { redirect: 'manual' })).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
    });
    expect(pagesOf(server)).toEqual(['GET /a', 'GET /a']);
  });

  it('takes a Request, and sends a stream once only', async () => {
    const robots = client();
    const server = await site((request, response) =>
      request.url === '/307' ? to('/end', 307)(request, response) : echo(request, response),
    );
    const make = (path: string, init?: object): Request =>
      fetch === globalThis.fetch
        ? new Request(server.url(path), init)
        : (new UndiciRequest(server.url(path), init) as unknown as Request);
    const guarded = guardFetch(fetch, robots);
    const response = await guarded(make('/end', { method: 'POST', body: 'once', headers: { 'x-a': 'b' } }));
    expect(await response.json()).toMatchObject({ method: 'POST', body: 'once', headers: { 'x-a': 'b' } });
    await expect(guarded(make('/307', { method: 'POST', body: 'once' }))).rejects.toThrow(
      /stream to be sent again/,
    );
    await expect(guarded(make('/private'))).rejects.toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
  });

  it('an abort while deciding rejects with its reason and sends nothing', async () => {
    const robots = client();
    const server = await startSite(() => undefined);
    opened(server);
    const leaving = new AbortController();
    const pending = guardFetch(fetch, robots)(server.url('/'), { signal: leaving.signal });
    await eventually(() => expect(server.requests).toHaveLength(1));
    leaving.abort(new Error('changed my mind'));
    await expect(pending).rejects.toThrow('changed my mind');
    expect(pagesOf(server)).toEqual([]);
  });

  it('tells the client whether the site is reachable', async () => {
    const robots = client();
    const server = await site((request, response) => {
      if (request.url === '/500') answer(response, { status: 500 });
      else if (request.url === '/reset') request.socket.destroy();
      else answer(response, {});
    });
    const guarded = guardFetch(fetch, robots);
    const reachable = async (): Promise<boolean | undefined> =>
      (await robots.policy(server.origin)).site?.reachable;
    await guarded(server.url('/'));
    expect(await reachable()).toBe(true);
    await guarded(server.url('/500'));
    expect(await reachable()).toBe(false);
    await guarded(server.url('/'));
    await expect(guarded(server.url('/reset'))).rejects.toThrow();
    expect(await reachable()).toBe(false);
    expect(robots.stats().attempts).toBe(1);
  });

  it('lets data: URLs pass: they reach no site', async () => {
    const robots = client();
    expect(await (await guardFetch(fetch, robots)('data:text/plain,hi')).text()).toBe('hi');
  });

  it('asks about another agent when told to', async () => {
    const robots = client();
    const server = await site(echo, 'User-agent: OtherBot\nDisallow: /\n');
    await expect(guardFetch(fetch, robots, { agent: 'OtherBot' })(server.url('/'))).rejects.toMatchObject({
      decision: { agent: 'OtherBot' },
    });
    await guardFetch(fetch, robots)(server.url('/'));
  });

  it('many at once about a cold origin make one robots.txt request', async () => {
    const robots = client();
    const server = await site(echo);
    const guarded = guardFetch(fetch, robots);
    await Promise.all(
      Array.from({ length: 30 }, async (_item, index) => (await guarded(server.url(`/${index}`))).text()),
    );
    expect(pagesOf(server)).toHaveLength(30);
    expect(server.requests).toHaveLength(31);
  });
});

describe('guardFetch', () => {
  it('works where msw answers the global fetch, robots.txt included', async () => {
    const server = setupServer(
      http.get('https://mocked.example/robots.txt', () => HttpResponse.text('User-agent: *\nDisallow: /no')),
      http.get('https://mocked.example/yes', () => HttpResponse.text('fine')),
    );
    server.listen({ onUnhandledRequest: 'error' });
    try {
      const { client: robots } = testClient({
        transport: { fetch: (url, init) => globalThis.fetch(url, init) },
      });
      opened(robots);
      const guarded = guardFetch(globalThis.fetch, robots);
      expect(await (await guarded('https://mocked.example/yes')).text()).toBe('fine');
      await expect(guarded('https://mocked.example/no')).rejects.toMatchObject({
        code: 'ERR_ROBOTS_DISALLOWED',
      });
    } finally {
      server.close();
    }
  });

  it('says what is wrong with its arguments', () => {
    const robots = client();
    expect(() => call('fetch', robots)).toThrow(/to be a fetch function, got string/);
    expect(() => call(fetch, robots, { agnt: 'x' })).toThrow(/only known options, got `agnt`/);
    expect(() => call(fetch, robots, { agent: '' })).toThrow(/`agent` to hold a product token/);
  });
});
