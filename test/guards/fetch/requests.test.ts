import { describe, expect, it } from 'vitest';
import { crawlReport, guardFetch } from '../../../src/index.ts';
import { Moment } from '../../support/moment.ts';
import { opened, openedClient } from '../../support/opened.ts';
import { answer } from '../../support/site.ts';
import {
  clientThatWaits,
  decidedBy,
  echo,
  pagesOf,
  realms,
  recording,
  redirecting,
  reportsTo,
  scriptedClient,
  site,
} from '../support.ts';

const RULES = 'User-agent: *\nDisallow: /private\n';

describe.each(realms)('requests, guarded around %s', (_, fetch, OwnRequest) => {
  it('takes a Request as it is', async () => {
    const robots = scriptedClient();
    const reports = reportsTo(robots);
    const server = await site(redirecting({ '/302': '/end', '/307': '/end', '/manual': '/private' }));
    const guarded = guardFetch(fetch, robots);
    const init = { method: 'POST', body: 'text', headers: { 'X-Own': '1' } };
    for (const path of ['/x', '/302']) {
      const response = await guarded(new OwnRequest(server.url(path), init));
      const dropped = path === '/302';
      expect(await response.json()).toMatchObject({
        method: dropped ? 'GET' : 'POST',
        body: dropped ? '' : 'text',
        headers: { 'x-own': '1' },
      });
    }
    expect(server.requests[1]).toMatchObject({ method: 'POST', url: '/302' });
    expect((await guarded(new OwnRequest(server.url('/manual'), { redirect: 'manual' }))).status).toBe(302);
    await expect(guarded(new OwnRequest(server.url('/private')))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
    });
    expect(reports()).toEqual(server.requests.map(() => [server.origin, true]));
  });

  it('sends the body of a Request at each hop', async () => {
    const server = await site(redirecting({ '/a': '/b', '/b': '/c' }, 307));
    const request = new OwnRequest(server.url('/a'), { method: 'POST', body: 'text' });
    const response = await guardFetch(fetch, scriptedClient())(request);
    expect(await response.json()).toMatchObject({ method: 'POST', url: '/c', body: 'text' });
    expect(pagesOf(server)).toEqual(['POST /a', 'POST /b', 'POST /c']);
  });

  it.each([
    ['a URL with userinfo', (url: string) => url.replace('//', '//name:word@'), {}],
    ['a method that fetch forbids', (url: string) => url, { method: 'TRACE' }],
    ['a GET with a body', (url: string) => url, { body: 'text' }],
  ])('says of %s, which fetch refuses, that nothing was requested', async (_what, urlOf, init) => {
    const server = await site(echo);
    const entries: { readonly type: string }[] = [];
    const { robots } = openedClient({ evidence: (entry) => void entries.push(entry) });
    const report = opened(crawlReport(robots));
    const guarded = guardFetch(fetch, robots, { pacing: { defaultDelayMs: 0, concurrency: 1 } });
    await expect(guarded(urlOf(server.url('/page')), init)).rejects.toThrow(TypeError);
    expect((await guarded(server.url('/next'))).status).toBe(200);
    expect(entries.filter(({ type }) => type === 'request')).toMatchObject([{ url: server.url('/next') }]);
    expect(report.toJSON()).toMatchObject({ totals: { sent: 1 } });
    expect(pagesOf(server)).toEqual(['GET /robots.txt', 'GET /next']);
  });

  it('lets init win over a Request', async () => {
    const server = await site(redirecting({ '/a': '/b' }, 307));
    const request = new OwnRequest(server.url('/a'), {
      method: 'POST',
      body: 'text',
      headers: { 'X-Own': '1' },
    });
    const response = await guardFetch(fetch, scriptedClient())(request, {
      method: 'PUT',
      body: 'other',
      headers: { 'X-New': '2' },
    });
    const seen = (await response.json()) as { headers: object };
    expect(seen).toMatchObject({ method: 'PUT', url: '/b', body: 'other', headers: { 'x-new': '2' } });
    expect(seen.headers).not.toHaveProperty('x-own');
  });

  it('heeds the signal of a Request, unless init takes it away', async () => {
    const server = await site(echo);
    const guarded = guardFetch(fetch, scriptedClient());
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(guarded(new OwnRequest(server.url('/'), { signal }))).rejects.toThrow('gone');
    expect(server.requests).toHaveLength(0);
    const alive = new AbortController();
    const request = new OwnRequest(server.url('/'), { signal: alive.signal });
    alive.abort(new Error('gone'));
    expect((await guarded(request, { signal: null })).status).toBe(200);
  });

  it('carries what a Request says over to each hop, and what init says over that', async () => {
    const server = await site(redirecting({ '/a': '/b' }));
    const [recorded, calls] = recording(fetch);
    const request = new OwnRequest(server.url('/a'), {
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      keepalive: true,
    });
    await guardFetch(recorded, scriptedClient())(request, { referrerPolicy: 'origin' });
    expect(calls).toHaveLength(2);
    expect(calls[0]![0]).toBe(request);
    expect(calls[1]).toMatchObject([
      server.url('/b'),
      { credentials: 'omit', referrerPolicy: 'origin', keepalive: true, redirect: 'manual' },
    ]);
  });

  it('takes a Request for init', async () => {
    const server = await site(redirecting({ '/a': '/b' }, 303));
    const init = new OwnRequest(server.url('/unused'), {
      method: 'POST',
      body: 'text',
      headers: { 'X-Own': '1' },
    });
    const response = await guardFetch(fetch, scriptedClient())(server.url('/a'), init);
    expect(await response.json()).toMatchObject({ method: 'GET', headers: { 'x-own': '1' } });
    expect(pagesOf(server)).toEqual(['POST /a', 'GET /b']);
  });

  it.each([false, true])('streams a body out while it is written (in a Request: %s)', async (inRequest) => {
    const arrived = new Moment();
    const server = await site((request, response) => {
      request.once('data', arrived.now);
      echo(request, response);
    });
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(Buffer.from('first '));
        // The rest is written only after the site has seen the start: a buffered body would never be sent.
        await arrived.come;
        controller.enqueue(Buffer.from('second'));
        controller.close();
      },
    });
    const init = { method: 'POST', body, duplex: 'half' as const };
    const guarded = guardFetch(fetch, scriptedClient());
    const response = await (inRequest
      ? guarded(new OwnRequest(server.url('/'), init))
      : guarded(server.url('/'), init));
    expect(await response.json()).toMatchObject({ body: 'first second' });
  });

  it('requests what it asked about, whatever the caller changes meanwhile', async () => {
    const decided = new Moment();
    const server = await site(echo);
    const robots = clientThatWaits(server.origin, decided);
    const url = new URL(server.url('/public'));
    const headers: Record<string, string> = { 'X-Page': '1' };
    const response = guardFetch(fetch, robots)(url, { headers });
    url.pathname = '/private';
    headers['X-Page'] = '2';
    decided.now();
    const seen = (await (await response).json()) as { rawHeaders: string[] };
    expect(seen).toMatchObject({ url: '/public', headers: { 'x-page': '1' } });
    expect(seen.rawHeaders).toContain('X-Page');
  });

  it('a response reaches the caller of a client that was closed meanwhile', async () => {
    const robots = scriptedClient();
    const server = await site(async (request, response) => {
      await robots.close();
      echo(request, response);
    });
    expect((await guardFetch(fetch, robots)(server.url('/'))).status).toBe(200);
  });

  it('starts a request it knows the answer for in the turn of the caller', async () => {
    const robots = scriptedClient();
    const [recorded, calls] = recording(fetch);
    const server = await site(echo);
    await robots.check(server.origin);
    const pending = guardFetch(recorded, robots)(server.url('/'));
    expect(calls).toHaveLength(1);
    await pending;
  });

  it('keeps calls apart that run at the same time', async () => {
    const robots = scriptedClient();
    const server = await site((request, response) =>
      request.url?.startsWith('/go') === true
        ? answer(response, { status: 302, headers: { location: `/at${request.url.slice(3)}` } })
        : echo(request, response),
    );
    const guarded = guardFetch(fetch, robots);
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_item, index) =>
        (await guarded(server.url(`/go${index}`), { method: 'PUT', body: `${index}` })).json(),
      ),
    );
    expect(answers).toMatchObject(answers.map((_item, index) => ({ url: `/at${index}`, body: `${index}` })));
    expect(server.requests).toHaveLength(40);
  });

  it('lets pass what reaches no site, and rejects what is no URL', async () => {
    const robots = scriptedClient();
    const [decided, reports] = [decidedBy(robots), reportsTo(robots)];
    const guarded = guardFetch(fetch, robots);
    expect(await (await guarded('data:text/plain,hi')).text()).toBe('hi');
    await expect(guarded('/relative')).rejects.toThrow(/Failed to parse URL from \/relative/);
    await expect(guarded('about:blank')).rejects.toThrow(TypeError);
    expect([decided, reports()]).toEqual([[], []]);
  });
});

describe('guardFetch', () => {
  it('calls the fetch without `this`, as browsers and Workers want of theirs', async () => {
    const owners: unknown[] = [];
    const native = async function (this: unknown, _url: string, _init?: object): Promise<Response> {
      owners.push(this);
      return new Response('a page');
    };
    const guarded = guardFetch(native, scriptedClient());
    await guarded('https://a.example/');
    await guarded('https://a.example/', { method: 'POST' });
    await guarded('https://a.example/');
    expect(owners).toEqual([undefined, undefined, undefined]);
  });

  it('of a URL alone, whose origin is known, is one question, and knows the pause that the site asks for', async () => {
    const server = await site((_, response) =>
      answer(response, { status: 503, headers: { 'retry-after': '60' } }),
    );
    const { robots } = openedClient({ transport: { fetch: async () => new Response(RULES) } });
    await robots.prefetch([server.origin]);
    const guarded = guardFetch(fetch, robots);
    const refused = expect.objectContaining({ code: 'ERR_ROBOTS_DISALLOWED' });
    await expect(guarded(server.url('/private'))).rejects.toThrow(refused);
    expect(robots.stats().hits).toBe(1);
    await (await guarded(server.url('/page'))).text();
    expect(robots.stats().hits).toBe(2);
    const options = { maxDelayMs: 120_000 };
    expect(await robots.reserve(server.url('/page'), undefined, options)).toMatchObject({ waitMs: 60_000 });
  });

  it.each([
    ['patch', 'patch'],
    ['put', 'PUT'],
  ])('spells the method %s as the standard does: %s', async (method, expected) => {
    const answers = [new Response(null, { status: 307, headers: { location: '/b' } }), new Response('end')];
    const [recorded, calls] = recording(async () => answers.shift() ?? Response.error());
    const response = await guardFetch(recorded, scriptedClient())('https://example.com/a#f', {
      method,
      body: 'x',
    });
    expect(calls.map(([, init]) => init.method)).toEqual([method, expected]);
    // A Response made by hand knows no URL.
    expect(response.url).toBe('https://example.com/b');
  });
});
