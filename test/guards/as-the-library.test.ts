/** What callers set for redirects does as in the library alone: each case runs in both, and must not differ. */
import { Readable } from 'node:stream';
import axios, { type AxiosInstance, type AxiosRequestConfig } from 'axios';
import type { Got, OptionsInit } from 'got';
import { describe, expect, it } from 'vitest';
import { guardAxios } from '../../src/guards/axios/axios.ts';
import { gotHooks } from '../../src/guards/got/got.ts';
import { guardFetch, RobotsClient } from '../../src/index.ts';
import { opened } from '../support/opened.ts';
import { otherMajor } from '../support/other-major.ts';
import { answer, type Handler, type Site } from '../support/site.ts';
import { site } from './support.ts';

const robots = (): RobotsClient =>
  opened(new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' }));

/** `/<status>?<location>` redirects there (`~part` is `#part`) and sets a cookie; `/404` is missing; the rest says what arrived. */
const pages: Handler = (request, response) => {
  const [path = '', location] = (request.url ?? '').split(/\?(.*)/s);
  const status = Number(path.slice(1)) || 200;
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    seen.push([
      request.headers.host,
      request.method,
      request.url,
      Buffer.concat(chunks).toString(),
      // The guard says who asks. Their order means nothing.
      Object.entries(request.headers)
        .filter(([name]) => !['user-agent', 'connection', 'host'].includes(name))
        .sort(),
    ]);
    const headers = {
      'set-cookie': `${path.slice(1)}=1`,
      ...(location && { location: location.replace('~part', '#part') }),
    };
    answer(response, { status, headers, body: `${request.method} ${request.url}` });
  });
};
/** What the sites were asked, without robots.txt. */
const seen: unknown[] = [];

/** What a caller gets, and what the sites saw. */
async function outcome(call: () => Promise<unknown>): Promise<object> {
  seen.length = 0;
  const result = await call().catch((error: unknown) => {
    const { name, code, message, response }: Record<string, unknown> = Object(error);
    const status: unknown = Object(response).status ?? Object(response).statusCode;
    return { error: { name, code, message, status } };
  });
  return { result, seen: seen.filter((request) => (request as unknown[])[2] !== '/robots.txt') };
}

/** The URL is relative to the first site; `{other}` is the origin of the second. */
type Case<Init> = readonly [what: string, url: string, init?: () => Init];

/** Runs each case in the library alone and in the guarded one, of two sites. */
function sameAsAlone<Init>(
  cases: readonly Case<Init>[],
  alone: (url: string, init: Init | undefined) => Promise<unknown>,
  guarded: () => (url: string, init: Init | undefined) => Promise<unknown>,
): void {
  for (const [what, url, init] of cases)
    it(what, async () => {
      const [first, other]: Site[] = [await site(pages), await site(pages)];
      const start =
        first!.origin + url.replaceAll('{other}', other!.origin).replaceAll('{first}', first!.origin);
      const byGuard = guarded();
      const expected = await outcome(() => alone(start, init?.()));
      expect(await outcome(() => byGuard(start, init?.()))).toEqual(expected);
      expect(seen).not.toEqual([]);
    });
}

const credentials = {
  authorization: 'Basic eDp5',
  'proxy-authorization': 'Basic eDp5',
  cookie: 'a=1',
  'x-key': 'k',
};
const redirectStatuses = [301, 302, 303, 307, 308];
const ofEach: Case<{ headers: Record<string, string> }>[] = [
  ['credentials within an origin', '/302?/page', () => ({ headers: credentials })],
  ['credentials across origins', '/302?{other}/page', () => ({ headers: credentials })],
  ['no Location', '/302'],
  ['a missing page', '/302?/404'],
];

describe('fetch', () => {
  const methods: Case<RequestInit>[] = redirectStatuses.flatMap((status) =>
    ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'].map((method): Case<RequestInit> => [
      `${method} after ${status}`,
      `/${status}?/page`,
      () => ({
        method,
        headers: { 'content-language': 'en' },
        ...(method === 'POST' || method === 'PUT' ? { body: 'text' } : {}),
      }),
    ]),
  );
  const view = (send: typeof fetch) => async (url: string, init?: RequestInit) => {
    const response = await send(url, init);
    const { status, redirected, type, headers } = response;
    return {
      status,
      url: response.url,
      redirected,
      type,
      cookie: headers.get('set-cookie'),
      text: await response.text(),
    };
  };
  sameAsAlone<RequestInit>(
    [
      ...ofEach,
      ...methods,
      ['credentials there and back', '/302?{other}/307?{first}/page', () => ({ headers: credentials })],
      ['a fragment', '/302?/302?/page%23x#part'],
      ['300 with Location', '/300?/page'],
      ["redirect: 'manual'", '/302?/page', () => ({ redirect: 'manual' })],
    ],
    view(fetch),
    () => view(guardFetch(fetch, robots())),
  );
});

for (const [version, load] of [
  ['14', () => import('got')],
  ['16', () => otherMajor<typeof import('got')>('got-16')],
] as const) {
  const library = await load();
  describe.skipIf(library === undefined)(`got ${version}`, () => {
    const got = library?.default as Got;
    const view = (send: Got) => async (url: string, init?: OptionsInit) => {
      const response = await send(url, {
        retry: { limit: 0 },
        ...init,
        isStream: false,
        resolveBodyOnly: false,
      });
      const { statusCode, redirectUrls, requestUrl, request, body } = response;
      const { options } = request;
      return {
        statusCode,
        url: response.url,
        requestUrl: String(requestUrl),
        redirectUrls: redirectUrls.map(String),
        optionsUrl: String(options.url),
        method: options.method,
        body,
      };
    };
    const stream = (send: Got) => async (url: string, init?: OptionsInit) => {
      const body = send.stream(url, { retry: { limit: 0 }, ...init, isStream: true });
      const passed: unknown[] = [];
      body.on('redirect', (options, { statusCode }) => void passed.push([String(options.url), statusCode]));
      body.on('response', ({ redirectUrls }) => void passed.push(redirectUrls.map(String)));
      let text = '';
      for await (const chunk of body) text += String(chunk);
      return { passed, text };
    };
    const jar = (): OptionsInit['cookieJar'] => {
      const cookies: string[] = [];
      return {
        getCookieString: async (url: string) => [...cookies, `for=${new URL(url).pathname}`].join('; '),
        setCookie: async (cookie: string) => void cookies.push(cookie),
      } as never;
    };
    const cases: Case<OptionsInit>[] = [
      ...ofEach,
      ...redirectStatuses.flatMap((status) =>
        ['GET', 'POST', 'PUT', 'DELETE'].flatMap((method) =>
          [true, false].map((methodRewriting): Case<OptionsInit> => [
            `${method} after ${status}${methodRewriting ? '' : ', not rewritten'}`,
            `/${status}?/page`,
            () =>
              ({
                method,
                methodRewriting,
                ...(method === 'POST' || method === 'PUT' ? { body: 'text' } : {}),
              }) as OptionsInit,
          ]),
        ),
      ),
      ['a password', '/302?/302?{other}/page', () => ({ username: 'x', password: 'y' })],
      ['maxRedirects', '/302?/302?/page', () => ({ maxRedirects: 1 })],
      ['maxRedirects: 0', '/302?/page', () => ({ maxRedirects: 0 })],
      ['followRedirect: false', '/302?/page', () => ({ followRedirect: false })],
      [
        'followRedirect: a function',
        '/302?/307?/page',
        () => ({ followRedirect: ({ statusCode }) => statusCode === 302 }),
      ],
      ['a cookie jar', '/302?{other}/307?/page', () => ({ cookieJar: jar() })],
      [
        'beforeRedirect',
        '/302?/307?/page',
        () => ({
          hooks: {
            beforeRedirect: [(options) => void (options.headers['x-hop'] = String(options.url?.pathname))],
          },
        }),
      ],
    ];
    describe('promises', () => {
      sameAsAlone(cases, view(got), () => view(got.extend(gotHooks(robots()))));
    });
    describe('streams', () => {
      const ofStreams = cases.filter(([what]) => !/^(?:POST|PUT|DELETE)/.test(what));
      sameAsAlone(ofStreams, stream(got), () => stream(got.extend(gotHooks(robots()))));
    });
  });
}

describe('axios over Node', () => {
  const view = (instance: AxiosInstance) => async (url: string, config?: AxiosRequestConfig) => {
    const { status, data, headers, request, config: sent } = await instance.request({ url, ...config });
    return {
      status,
      data: data instanceof Readable ? (await data.toArray()).join('') : data,
      cookie: headers['set-cookie'],
      responseUrl: request.res.responseUrl,
      path: request.path,
      configUrl: sent.url,
      method: sent.method,
    };
  };
  sameAsAlone<AxiosRequestConfig>(
    [
      ...ofEach,
      ...redirectStatuses.flatMap((status) =>
        ['get', 'head', 'post', 'put', 'delete'].map((method): Case<AxiosRequestConfig> => [
          `${method} after ${status}`,
          `/${status}?/page`,
          () => ({ method, ...(method === 'post' || method === 'put' ? { data: { a: 1 } } : {}) }),
        ]),
      ),
      ['a stream after 307', '/307?/307?/page', () => ({ method: 'post', data: Readable.from(['a', 'b']) })],
      ['a form after 308', '/308?/page', () => ({ method: 'post', data: new URLSearchParams({ a: '1' }) })],
      [
        'auth there and back',
        '/302?{other}/307?{first}/307?/page',
        () => ({ auth: { username: 'x', password: 'y' } }),
      ],
      ['auth', '/302?/302?{other}/page', () => ({ auth: { username: 'x', password: 'y:z' } })],
      [
        'fields that are sensitive',
        '/302?{other}/page',
        () => ({ headers: credentials, sensitiveHeaders: ['x-key'] }),
      ],
      ['a field that is off', '/302?/page', () => ({ headers: { 'accept-encoding': false } as never })],
      ['params', '/302?/page', () => ({ params: { q: "it's" } })],
      ['maxRedirects', '/302?/302?/page', () => ({ maxRedirects: 1 })],
      ['maxRedirects: 0', '/302?/page', () => ({ maxRedirects: 0 })],
      ['300 with Location', '/300?/page'],
      ['an invalid Location', '/302?http://%5B'],
      ...['data:text/plain,hi', 'file:///x', 'mailto:a', 'ftp://127.0.0.1:9/'].map(
        (location): Case<AxiosRequestConfig> => [`a redirect to ${location}`, `/302?${location}`],
      ),
      ['a missing page that is accepted', '/302?/404', () => ({ validateStatus: null })],
      ['a stream as the response', '/302?/page', () => ({ responseType: 'stream' })],
      [
        'beforeRedirect',
        '/302?/307?{other}/page',
        () => ({
          beforeRedirect: (options, { statusCode }) => {
            options['headers']['x-hop'] = `${statusCode} ${options['path']}`;
            options['auth'] = 'hop:word';
          },
        }),
      ],
      [
        'beforeRedirect to another path',
        '/302?/page', // `responseUrl` is made of `search`.
        () => ({
          beforeRedirect: (options) =>
            void Object.assign(options, { path: '/page?another', search: '?another' }),
        }),
      ],
      ['a fragment of Location', '/302?/page~part'],
      [
        'beforeRedirect that throws',
        '/302?/page',
        () => ({
          beforeRedirect: () => {
            throw new Error('not this one');
          },
        }),
      ],
      [
        'transforms run once',
        '/307?/page',
        () => ({
          method: 'post',
          data: 'x',
          transformRequest: (data: string) => `${data}!`,
          transformResponse: (data: string) => `${data}?`,
        }),
      ],
    ],
    view(axios.create()),
    () => view(guardAxios(axios.create(), robots())),
  );

  it('21 redirects are followed, and no more', async () => {
    const server = await site((request, response) => {
      const hop = Number(/\d+/.exec(request.url ?? '')?.[0]);
      answer(response, hop > 0 ? { status: 302, headers: { location: `/${hop - 1}` } } : { body: 'a page' });
    });
    const guarded = guardAxios(axios.create(), robots());
    for (const send of [axios.create(), guarded]) {
      expect((await send.get(server.url('/21'))).data).toBe('a page');
      await expect(send.get(server.url('/22'))).rejects.toMatchObject({ code: 'ERR_FR_TOO_MANY_REDIRECTS' });
    }
  });
});
