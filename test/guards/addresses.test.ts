import { Agent, request } from 'undici';
import { describe, expect, it } from 'vitest';
import { guardAxios } from '../../src/guards/axios/axios.ts';
import { gotHooks } from '../../src/guards/got/got.ts';
import { publicOnlyAgent, robotsInterceptor } from '../../src/guards/undici/undici.ts';
import { guardFetch, refusalIn, RobotsAddressRefusedError, RobotsClient } from '../../src/index.ts';
import { lookupIn, PUBLIC } from '../support/internet.ts';
import { Moment } from '../support/moment.ts';
import { opened } from '../support/opened.ts';
import { answer, type Site } from '../support/site.ts';
import { pagesOf, realms, redirecting, reportsTo, scriptedClient, site } from './support.ts';

const REFUSED = expect.objectContaining({ code: 'ERR_ROBOTS_ADDRESS_REFUSED' });
const NAMES = { 'intranet.example': ['127.0.0.1'], 'intranet2.example': ['127.0.0.1', '::1'] };

const as = (host: string, { origin }: Site, path = '/'): string => origin.replace('127.0.0.1', host) + path;

const closing = (agent: Agent): Agent => {
  opened({ [Symbol.asyncDispose]: () => agent.close() });
  return agent;
};

describe.each(realms)('guardFetch with an address policy, over %s', (_name, fetch) => {
  /** A fetch to which `public.example` is a site somewhere that redirects to `location`; all else it asks in earnest. */
  const outside =
    (location: string): typeof globalThis.fetch =>
    async (input, init) =>
      String(input).startsWith('http://public.example/')
        ? new Response(null, { status: 302, headers: { location } })
        : fetch(input, init);

  /** Guards a fetch against redirects of public pages to private addresses. */
  const protecting = (
    send: typeof globalThis.fetch,
    client = scriptedClient(),
    lookup = lookupIn(NAMES),
  ): typeof globalThis.fetch => guardFetch(send, client, { addressPolicy: 'no-public-to-private', lookup });

  it.each(['127.0.0.1', 'localhost', '127.1', '[::ffff:127.0.0.1]', 'intranet.example', 'intranet2.example'])(
    'refuses the redirect of a public page to %s before it is connected to, or asked about',
    async (host) => {
      const inside = await site(redirecting({}));
      const client = scriptedClient();
      const guarded = protecting(outside(as(host, inside, '/secret')), client);
      const error: unknown = await guarded('http://public.example/').catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(RobotsAddressRefusedError);
      expect(error).toMatchObject({ host: new URL(as(host, inside)).hostname });
      expect(refusalIn(new TypeError('fetch failed', { cause: error }))).toBe(error);
      expect(client.stats().attempts).toBe(1);
      expect(inside.connections()).toBe(0);
    },
  );

  it('refuses it at the connection, too, where robots.txt is known', async () => {
    const inside = await site(redirecting({}));
    const lookup = lookupIn(NAMES);
    const client = scriptedClient();
    await client.check(as('intranet.example', inside));
    const guarded = protecting(outside(as('intranet.example', inside)), client, lookup);
    await expect(guarded('http://public.example/')).rejects.toEqual(REFUSED);
    expect(lookup.asked).toEqual(['intranet.example']);
    expect(inside.connections()).toBe(0);
  });

  it('refuses a name that has a private address after the check', async () => {
    const inside = await site(redirecting({}));
    const client = scriptedClient();
    const lookup = lookupIn({ 'rebind.example': (before) => (before === 0 ? [PUBLIC] : ['127.0.0.1']) });
    const guarded = protecting(outside(as('rebind.example', inside)), client, lookup);
    await expect(guarded('http://public.example/')).rejects.toEqual(REFUSED);
    expect(lookup.asked).toEqual(['rebind.example', 'rebind.example']);
    expect(inside.connections()).toBe(0);
  });

  it('does not send it over a socket that a first hop has left open', async () => {
    const inside = await site(redirecting({}));
    const guarded = protecting(outside(as('intranet.example', inside)));
    await (await guarded(as('intranet.example', inside))).text();
    await (await guarded(as('intranet.example', inside))).text();
    const before = inside.connections();
    await expect(guarded('http://public.example/')).rejects.toEqual(REFUSED);
    expect(inside.connections()).toBe(before);
    expect(inside.requests.length).toBe(2);
  });

  it('follows the redirects of private pages to private ones', async () => {
    const last = await site(redirecting({}));
    const middle = await site(redirecting({ '/': as('intranet2.example', last) }));
    const first = await site(redirecting({ '/': as('intranet.example', middle) }));
    const guarded = protecting(fetch);
    const response = await guarded(first.origin);
    expect(response).toMatchObject({ status: 200, redirected: true, url: as('intranet2.example', last) });
    await response.text();
    expect([first, middle, last].flatMap(pagesOf)).toEqual(['GET /', 'GET /', 'GET /']);
  });

  it('keeps the address of an answer whose connection is closed', async () => {
    const last = await site(redirecting({}));
    const first = await site((_request, response) =>
      answer(response, { status: 302, headers: { location: last.origin, connection: 'close' } }),
    );
    const guarded = protecting(fetch);
    for (let round = 0; round < 20; round++) {
      expect((await guarded(as('intranet.example', first))).status).toBe(200);
    }
    expect(last.requests.length).toBe(20);
  });

  it.each(['follow', 'manual', 'error'] as const)(
    'asks no private address at all under "public-only", redirects %s',
    async (redirect) => {
      const inside = await site(redirecting({}));
      const lookup = lookupIn(NAMES);
      await using client = new RobotsClient({ addressPolicy: 'public-only', lookup });
      const guarded = guardFetch(fetch, client, { addressPolicy: 'public-only', lookup });
      for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
        await expect(guarded(as(host, inside), { redirect })).rejects.toEqual(REFUSED);
      }
      await expect(guarded(new Request(as('127.0.0.1', inside)), { redirect })).rejects.toEqual(REFUSED);
      // By name not even its robots.txt.
      await expect(guarded(as('intranet.example', inside), { redirect })).rejects.toEqual(REFUSED);
      expect(inside.connections()).toBe(0);
    },
  );

  it('refuses whatever the guard is told about robots.txt', async () => {
    const inside = await site(redirecting({}));
    const guarded = guardFetch(fetch, scriptedClient('', { addressPolicy: 'public-only' }), {
      addressPolicy: 'public-only',
      lookup: lookupIn(NAMES),
      mode: 'report',
      filter: () => false,
      onDisallow: () => {
        throw new Error('not asked');
      },
    });
    const robots = { ignore: true, because: 'a test' };
    for (const url of [as('127.0.0.1', inside), as('intranet.example', inside)]) {
      await expect(guarded(url)).rejects.toEqual(REFUSED);
      await expect(guarded(url, { robots } as RequestInit)).rejects.toEqual(REFUSED);
    }
    expect(inside.connections()).toBe(0);
  });

  it("checks what URLs show where requests go through the caller's dispatcher", async () => {
    const inside = await site(redirecting({ '/': 'http://127.0.0.1/' }));
    const lookup = lookupIn(NAMES);
    const dispatcher = closing(new Agent({ connect: { lookup } }));
    const guarded = guardFetch(fetch, scriptedClient(), {
      addressPolicy: 'no-public-to-private',
      lookup: () => {
        throw new Error('not asked');
      },
    });
    const init = { dispatcher } as unknown as RequestInit;
    await expect(guarded(as('intranet.example', inside), init)).rejects.toEqual(REFUSED);
    expect(pagesOf(inside)).toEqual(['GET /']);
    expect((await guarded(as('intranet.example', inside, '/page'), init)).status).toBe(200);
  });

  it('leaves network failures as they are', async () => {
    const gone = await site(redirecting({}));
    await gone.close();
    const lookup = lookupIn(NAMES);
    for (const addressPolicy of ['no-public-to-private', 'public-only'] as const) {
      const client = scriptedClient('', { addressPolicy });
      const reports = reportsTo(client);
      const guarded = guardFetch(fetch, client, { addressPolicy, lookup });
      await expect(guarded(as('absent.example', gone))).rejects.toMatchObject({
        message: 'fetch failed',
        cause: { code: 'ENOTFOUND' },
      });
      expect(reports()).toEqual([[as('absent.example', gone, ''), false]]);
    }
  });

  it('does not report a refusal as an unreachable site', async () => {
    const inside = await site(redirecting({}));
    const client = scriptedClient('', { addressPolicy: 'public-only' });
    const reports = reportsTo(client);
    const guarded = guardFetch(fetch, client, { addressPolicy: 'public-only', lookup: lookupIn(NAMES) });
    await expect(guarded(as('intranet.example', inside))).rejects.toEqual(REFUSED);
    expect(reports()).toEqual([]);
  });

  it('can be aborted while a name is looked up', async () => {
    const controller = new AbortController();
    const asked = new Moment();
    const client = scriptedClient('', { addressPolicy: 'public-only' });
    const guarded = guardFetch(fetch, client, { addressPolicy: 'public-only', lookup: () => asked.now() });
    const response = guarded('http://slow.example/', { signal: controller.signal });
    await asked.come;
    controller.abort(new Error('enough'));
    await expect(response).rejects.toThrow('enough');
    expect(client.stats().attempts).toBe(0);
  });

  it('is off by default', async () => {
    const last = await site(redirecting({}));
    for (const options of [{}, { addressPolicy: 'any' as const }]) {
      const guarded = guardFetch(outside(last.origin), scriptedClient(), options);
      expect((await guarded('http://public.example/')).status).toBe(200);
    }
  });
});

describe('the address policy of a guard', () => {
  const client = scriptedClient();

  it.each([
    ['public-only', 'no-public-to-private'],
    ['public-only', 'any'],
    ['no-public-to-private', 'any'],
  ] as const)(
    '%s is refused over a client with %s, which asks for robots.txt elsewhere',
    async (guard, own) => {
      await using loose = new RobotsClient({ addressPolicy: own });
      expect(() => guardFetch(fetch, loose, { addressPolicy: guard })).toThrow(
        expect.objectContaining({
          code: 'ERR_ROBOTS_INVALID_OPTIONS',
          message: expect.stringContaining(`give the client \`addressPolicy: '${guard}'\``),
        }),
      );
      await using strict = new RobotsClient({ addressPolicy: guard });
      expect(guardFetch(fetch, strict, { addressPolicy: guard })).toBeTypeOf('function');
      expect(guardFetch(fetch, strict, { addressPolicy: own })).toBeTypeOf('function');
      expect(guardFetch(fetch, strict)).toBeTypeOf('function');
    },
  );

  it.each([{ addressPolicy: 'public-only' }, { lookup: lookupIn({}) }])(
    '%j is for guardFetch alone',
    (options: object) => {
      const code = expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' });
      expect(() => robotsInterceptor(client, options)).toThrow(code);
      expect(() => gotHooks(client, options)).toThrow(code);
      expect(() => Reflect.apply(guardAxios, undefined, [{}, client, options])).toThrow(code);
    },
  );
});

describe('publicOnlyAgent', () => {
  it('connects to no private address, by name or by number', async () => {
    const inside = await site(redirecting({}));
    const agent = closing(
      publicOnlyAgent({ lookup: lookupIn(NAMES), connections: 2, connect: { timeout: 5_000 } }),
    );
    for (const host of [
      '127.0.0.1',
      '[::1]',
      'localhost',
      'a.localhost',
      'intranet.example',
      'intranet2.example',
    ]) {
      await expect(request(as(host, inside), { dispatcher: agent })).rejects.toEqual(REFUSED);
    }
    await expect(request(as('absent.example', inside), { dispatcher: agent })).rejects.toMatchObject({
      code: 'ENOTFOUND',
    });
    expect(inside.connections()).toBe(0);
  });

  it('tells which address it would have been', async () => {
    const agent = closing(publicOnlyAgent({ lookup: lookupIn({ 'a.example': ['10.0.0.1', 'fd00::1'] }) }));
    const error: unknown = await request('http://a.example/', { dispatcher: agent }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ host: 'a.example', address: '10.0.0.1' });
    expect(String(error)).toContain('"a.example" at "10.0.0.1" (private)');
  });

  it('serves below the guard, and as the dispatcher of a client', async () => {
    const inside = await site(redirecting({}));
    const agent = closing(publicOnlyAgent({ lookup: lookupIn(NAMES) }));
    await using client = new RobotsClient({ dispatcher: agent });
    expect(await client.check(as('intranet.example', inside))).toMatchObject({
      allowed: false,
      robots: { error: 'ERR_ROBOTS_ADDRESS_REFUSED' },
    });
    const dispatcher = agent.compose(robotsInterceptor(scriptedClient()));
    await expect(request(as('intranet.example', inside), { dispatcher })).rejects.toEqual(REFUSED);
    expect(inside.connections()).toBe(0);
  });

  it.each([
    { connect: () => {} },
    { connect: { socketPath: '/run/x' } },
    { connect: { path: '/run/x' } },
    { connect: { lookup: () => {} } },
  ])('does not take %j, which would connect elsewhere', (options) => {
    expect(() => Reflect.apply(publicOnlyAgent, undefined, [options])).toThrow(
      expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' }),
    );
  });
});
