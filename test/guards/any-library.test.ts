/** The libraries of the guide, each in the way that the guide says, and what happens in other ways. */
import http from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import axios from 'axios';
import got from 'got';
import ky from 'ky';
import { ofetch } from 'ofetch';
import {
  Agent,
  type Dispatcher,
  fetch as undiciFetch,
  getGlobalDispatcher,
  request,
  setGlobalDispatcher,
} from 'undici';
import { describe, expect, it } from 'vitest';
import { robotsInterceptor } from '../../src/guards/undici/undici.ts';
import { guardFetch, refusalIn, retryAtOf, RobotsClient } from '../../src/index.ts';
import { opened } from '../support/opened.ts';
import { otherMajor } from '../support/other-major.ts';
import { answer, type Site } from '../support/site.ts';
import { pagesOf, site } from './support.ts';

/** `/to?<location>` redirects there, `/busy` answers 429. */
const pages = (): Promise<Site> =>
  site((asked, response) => {
    const url = asked.url ?? '';
    if (url === '/robots.txt')
      answer(response, { body: 'User-agent: *\nDisallow: /private\nCrawl-delay: 0\n' });
    else if (url === '/busy')
      answer(response, { status: 429, headers: { 'retry-after': '60' }, body: 'later' });
    else if (url.startsWith('/to?')) answer(response, { status: 302, headers: { location: url.slice(4) } });
    else answer(response, { headers: { 'content-type': 'text/html' }, body: `<title>${url}</title>` });
  });

const client = (dispatcher?: Dispatcher): RobotsClient =>
  opened(new RobotsClient({ agent: 'ExampleBot/1.0', ...(dispatcher && { dispatcher }) }));

/** Resolves with the text of a page. Rejects, or resolves with the response, when it is "not now". */
type GetPage = (url: string) => Promise<unknown>;

interface Pacing {
  readonly pacing: { readonly defaultDelayMs: number; readonly maxDelayMs: number };
}

type Fetch = (input: string, init: { readonly headers: Record<string, string> }) => Promise<Response>;

const byFetch = (fetchPage: typeof fetch | Fetch, options: Pacing): GetPage => {
  const guarded = guardFetch(fetchPage as typeof fetch, client(), options);
  return async (url) => {
    const response = await guarded(url);
    const text = await response.text();
    return response.ok ? text : response;
  };
};

/** A library that `guardFetch` wraps by a function which returns a Response. */
type Wrapped = readonly [name: string, fetchPage: Fetch];

const wrapped: Wrapped[] = [
  [
    'node:http',
    (url, { headers }) =>
      new Promise((resolve, reject) => {
        const asked = http.get(url, { headers }, (response) => {
          const { statusCode: status, headers: fields } = response;
          const init = { status: status!, headers: fields as Record<string, string> };
          resolve(new Response(Readable.toWeb(response) as ReadableStream, init));
        });
        asked.on('error', reject);
      }),
  ],
  [
    'undici.request',
    async (url, { headers }) => {
      const { statusCode: status, headers: fields, body } = await request(url, { headers });
      return new Response(await buffer(body), { status, headers: fields as Record<string, string> });
    },
  ],
];

/** What other libraries answer, of those that are installed. */
const others: Record<string, (library: any, url: string, headers: object) => Promise<Response>> = {
  needle: async ({ default: needle }, url, headers) => {
    const options = { headers, follow_max: 0, parse: false };
    const { statusCode: status, headers: fields, raw } = await needle('get', url, null, options);
    return new Response(raw, { status, headers: fields });
  },
  superagent: async ({ default: superagent }, url, headers) => {
    const asked = superagent.get(url).redirects(0).set(headers);
    const { status, headers: fields, text } = await asked.ok(() => true);
    return new Response(text, { status, headers: fields });
  },
  phin: async ({ default: phin }, url, headers) => {
    const asked = phin({ url, headers, followRedirects: false });
    const { statusCode: status, headers: fields, body } = await asked;
    return new Response(body, { status, headers: fields });
  },
};
for (const [name, send] of Object.entries(others)) {
  const library = await otherMajor(name);
  if (library !== undefined) wrapped.push([name, (url, { headers }) => send(library, url, headers)]);
}

/** Others than those of `contract-libraries.ts`, which have the whole contract. */
const libraries: (readonly [name: string, make: (options: Pacing) => GetPage])[] = [
  ['the fetch of undici', (options) => byFetch(undiciFetch as never, options)],
  [
    'ofetch.raw',
    (options) =>
      byFetch(
        ((url, init) =>
          ofetch.raw(url, { ...init, ignoreResponseError: true, responseType: 'stream' })) as Fetch,
        options,
      ),
  ],
  ['ky, wrapped', (options) => byFetch(ky.create({ throwHttpErrors: false, retry: 0 }) as never, options)],
  ...wrapped.map(([name, fetchPage]) => [name, (options: Pacing) => byFetch(fetchPage, options)] as const),
];

describe.each(libraries)('%s, as the guide says', (_, make) => {
  const options: Pacing = { pacing: { defaultDelayMs: 0, maxDelayMs: 0 } };

  it('follows redirects, and refuses where one leads to what is disallowed', async () => {
    const server = await pages();
    const get = make(options);
    expect(await get(server.url('/to?/to?/page'))).toBe('<title>/page</title>');
    const error = await get(server.url('/to?/private')).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(refusalIn(error)).toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
      requested: server.url('/to?/private'),
    });
    expect(pagesOf(server).filter((line) => line.includes('GET /private'))).toEqual([]);
  });

  it('a 429 pauses its site, and says until when', async () => {
    const server = await pages();
    const get = make(options);
    const outcome = await get(server.url('/busy')).catch((reason: unknown) => reason);
    expect(retryAtOf(outcome)).toBeGreaterThan(Date.now() + 50_000);
    await expect(get(server.url('/page'))).rejects.toSatisfy(
      (error) => refusalIn(error)?.code === 'ERR_ROBOTS_DEFERRED',
    );
    expect(pagesOf(server)).not.toContain('GET /page');
  });
});

describe('guardFetch around what is no fetch', () => {
  it.each<[string, unknown, RegExp]>([
    ['ofetch', ofetch, /one that resolves with string; .*`ofetch\.raw`/],
    ['axios', axios, /one that resolves with another object; .*`canfetch\/axios`/],
    ['undici.request', request, /another object; .*`return new Response\(body, \{ status, headers \}\)`/],
    [
      'a library with the fields of axios, and a body in one piece',
      async () => ({ status: 200, headers: new Map(), body: 'a page' }),
      /another object; .*`return new Response/,
    ],
    ['got', got, /refuses the init .*`canfetch\/got`/],
    ['ky', ky.create({ retry: 0 }), /rejects redirects; .*`throwHttpErrors: false`/],
    ['a fetch that follows', (url: string) => fetch(url), /followed a redirect of .* unchecked/],
    [
      'one that follows, and says so by its URL',
      async () =>
        Object.defineProperty(new Response('a page'), 'url', { value: 'http://127.0.0.1:1/private' }),
      /followed a redirect of .* unchecked/,
    ],
  ])('%s: an error says what to write, and the next request does not wait', async (_, library, message) => {
    const server = await pages();
    const robots = client();
    for (const pacing of [false, { defaultDelayMs: 0, maxDelayMs: 0 }]) {
      const asked = guardFetch(library as typeof fetch, robots, { pacing })(server.url('/to?/page'));
      await expect(asked).rejects.toMatchObject({
        code: 'ERR_ROBOTS_INVALID_OPTIONS',
        message: expect.stringMatching(message),
      });
      expect((await guardFetch(fetch, robots, { pacing })(server.url('/page'))).status).toBe(200);
    }
  });

  it('other errors, and responses made by hand, stay as they are', async () => {
    const server = await pages();
    const failing = Object.assign(new Error('no token'), { code: 'ENOTOKEN' });
    await expect(
      guardFetch((() => Promise.reject(failing)) as typeof fetch, client())(server.url('/')),
    ).rejects.toBe(failing);
    const mock = { ok: true, status: 200, headers: new Map(), text: async () => 'mocked' };
    for (const pacing of [false, { defaultDelayMs: 0 }]) {
      const guarded = guardFetch((async () => mock) as unknown as typeof fetch, client(), { pacing });
      expect([await guarded(server.url('/1')), await guarded(server.url('/2'))]).toEqual([mock, mock]);
    }
  });

  it.each([false, { defaultDelayMs: 0 }])(
    'a wrapper may write to the `init` (pacing: %j)',
    async (pacing) => {
      const server = await pages();
      const written: unknown[] = [];
      const wrapper = (url: string, init: { headers?: Record<string, string> } = {}): Promise<Response> => {
        written.push(init.headers?.['x-page']);
        init.headers = Object.assign(init.headers ?? {}, { 'x-page': url });
        return fetch(url, init);
      };
      const guarded = guardFetch(wrapper as typeof fetch, client(), { pacing });
      for (const path of ['/page', '/page?2'])
        expect(await (await guarded(server.url(path))).text()).not.toBe('');
      expect(written).toEqual([undefined, undefined]);
    },
  );

  it.each<[string, unknown]>([
    ['ky', ky.create({ retry: 0 })],
    ['ofetch.raw', (url: string, init: object) => ofetch.raw(url, { ...init, retry: 0 })],
  ])('%s, which rejects a 429: its site pauses, and the error says until when', async (_, library) => {
    const server = await pages();
    const guarded = guardFetch(library as typeof fetch, client(), { pacing: { maxDelayMs: 0 } });
    const error: unknown = await guarded(server.url('/busy')).catch((reason: unknown) => reason);
    expect(error).not.toHaveProperty('code', 'ERR_ROBOTS_INVALID_OPTIONS');
    expect(retryAtOf(error)).toBeGreaterThan(Date.now() + 50_000);
    await expect(guarded(server.url('/page'))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DEFERRED',
      delayFrom: 'retry-after',
    });
  });

  it.each<[string, Record<string, string> | [string, string][], unknown]>([
    ['an object', { 'X-Key': '1' }, { 'x-key': '1', 'user-agent': 'ExampleBot/1.0' }],
    [
      'a list',
      [['X-Key', '1']],
      [
        ['user-agent', 'ExampleBot/1.0'],
        ['x-key', '1'],
      ],
    ],
  ])('gives each hop its fields in the same form: %s', async (_, headers, later) => {
    const server = await pages();
    const given: unknown[] = [];
    const send = (url: string, init: RequestInit): Promise<Response> => {
      given.push(init.headers);
      return fetch(url, init);
    };
    await guardFetch(send as typeof fetch, client())(server.url('/to?/page'), { headers });
    expect(given.map((each) => Array.isArray(each))).toEqual(
      Array.from({ length: 2 }, () => Array.isArray(headers)),
    );
    expect(given[1]).toEqual(later);
  });
});

describe('libraries that send by a dispatcher', () => {
  const guardedAgent = (): Agent => {
    const agent = new Agent();
    opened({ [Symbol.asyncDispose]: () => agent.destroy() });
    return agent.compose(robotsInterceptor(client(agent))) as Agent;
  };

  it('a guarded global dispatcher holds the fetch of undici, and linkinator', async () => {
    const before = getGlobalDispatcher();
    opened({ [Symbol.dispose]: () => setGlobalDispatcher(before) });
    const server = await pages();
    setGlobalDispatcher(guardedAgent());
    await expect(undiciFetch(server.url('/to?/private'))).rejects.toSatisfy(
      (error) => refusalIn(error)?.code === 'ERR_ROBOTS_DISALLOWED',
    );
    type Linkinator = { check(options: object): Promise<{ links: { status: number }[] }> };
    const linkinator = await otherMajor<Linkinator>('linkinator');
    const links = await linkinator?.check({ path: server.url('/to?/private'), recurse: false });
    if (links !== undefined) expect(links.links.map(({ status }) => status)).toEqual([0]);
    expect(pagesOf(server)).not.toContain('GET /private');
  });

  it('jsdom takes a guarded dispatcher among its resources', async (test) => {
    type Jsdom = {
      JSDOM: { fromURL(url: string, options: object): Promise<{ window: { document: { title: string } } }> };
    };
    const jsdom = await otherMajor<Jsdom>('jsdom');
    if (jsdom === undefined) return test.skip();
    const server = await pages();
    const resources = { dispatcher: guardedAgent() };
    expect((await jsdom.JSDOM.fromURL(server.url('/page'), { resources })).window.document.title).toBe(
      '/page',
    );
    await expect(jsdom.JSDOM.fromURL(server.url('/to?/private'), { resources })).rejects.toSatisfy(
      (error) => refusalIn(error)?.code === 'ERR_ROBOTS_DISALLOWED',
    );
  });

  it('`cheerio.fromURL` is not held: it makes connections of its own', async (test) => {
    const cheerio = await otherMajor<{ fromURL(url: string): Promise<(name: string) => { text(): string }> }>(
      'cheerio-1',
    );
    if (cheerio === undefined) return test.skip();
    const before = getGlobalDispatcher();
    opened({ [Symbol.dispose]: () => setGlobalDispatcher(before) });
    setGlobalDispatcher(guardedAgent());
    const server = await pages();
    expect((await cheerio.fromURL(server.url('/private')))('title').text()).toBe('/private');
  });
});
