import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import axios, { type AxiosAdapter, type CreateAxiosDefaults } from 'axios';
import axiosRetry from 'axios-retry';
import got, { type Got, type OptionsInit } from 'got';
import { describe, expect, it, vi } from 'vitest';
import { axiosTransport, guardAxios } from '../../src/guards/axios/axios.ts';
import { gotHooks, gotTransport } from '../../src/guards/got/got.ts';
import { crawlReport, guardFetch, type RobotsClient, type RobotsClientOptions } from '../../src/index.ts';
import { makeAuthority } from '../support/certificates.ts';
import { opened, openedClient, openedSite } from '../support/opened.ts';
import { compileScript, startWorker } from '../support/workers.ts';
import { otherMajor } from '../support/other-major.ts';
import { startProxy } from '../support/proxy.ts';
import { movedTo, REFUSING_HOST, type Site, startRawSite } from '../support/site.ts';

const RULES = 'User-agent: *\nDisallow: /private\n';
const SECRETS = { authorization: 'Bearer secret', cookie: 'id=secret', 'x-crawl': 'night' };

const client = (options: RobotsClientOptions): RobotsClient => openedClient(options).robots;
type Transport = NonNullable<RobotsClientOptions['transport']>;

const overGot = (options: OptionsInit, library = got): Transport => gotTransport(library.extend(options));
const overAxios = (options: CreateAxiosDefaults): Transport => axiosTransport(axios.create(options));

const keptCookies = { getCookieString: async () => 'id=secret', setCookie: async () => undefined };

const got16 = await otherMajor<typeof import('got')>('got-16');
const GOTS: readonly (readonly [name: string, library: Got])[] = [
  ['got 14', got],
  ...(got16 === undefined ? [] : [['got 16', got16.default] as const]),
];

/** Instances with all that must not change the answer, and what else they send pages with. */
const BUSY: readonly (readonly [name: string, () => Transport])[] = [
  ...GOTS.map(([name, library]): readonly [string, () => Transport] => [
    name,
    () =>
      overGot(
        {
          prefixUrl: 'http://elsewhere.test/api',
          searchParams: { key: 'secret' },
          headers: SECRETS,
          username: 'user',
          password: 'secret',
          cookieJar: keptCookies,
          cache: new Map(),
          responseType: 'json',
          followRedirect: true,
          maxRedirects: 1,
          retry: { limit: 2 },
        },
        library,
      ),
  ]),
  ...(['http', 'fetch'] as const).map((adapter): readonly [string, () => Transport] => [
    `axios by ${adapter}`,
    () => {
      const instance = axios.create({
        adapter,
        baseURL: 'http://elsewhere.test/api',
        allowAbsoluteUrls: false,
        params: { key: 'secret' },
        headers: SECRETS,
        auth: { username: 'user', password: 'secret' },
        responseType: 'json',
        maxRedirects: 1,
        maxContentLength: 5,
        transformResponse: () => 'changed',
        validateStatus: (status) => status === 999,
      });
      instance.interceptors.response.use(
        () => Promise.reject(new Error('an interceptor')),
        // Sends the request again.
        ({ config }: { readonly config: { readonly url: string } }) => fetch(config.url),
      );
      axiosRetry(instance, { retries: 2, retryCondition: () => true });
      return axiosTransport(instance);
    },
  ]),
];

describe.each(BUSY)('the transport over an instance of %s with settings of its own', (name, make) => {
  it('sends who asks and the other fields, and follows redirects as the client does', async () => {
    const site = await openedSite({
      '/robots.txt': { status: 302, headers: { location: '/a?x=%20&y', 'set-cookie': 'a=b' } },
      '/a?x=%20&y': movedTo('/b', 307),
      '/b': movedTo('/c', 301),
      '/c': name === 'axios by fetch' ? { body: RULES } : coded('gzip'),
    });
    const robots = client({ agent: 'ExampleBot/1.0', transport: make() });
    expect(await robots.check(site.url('/private'))).toMatchObject({
      reason: 'rule',
      robots: { hops: 3, status: 200, finalUrl: site.url('/c') },
    });
    expect(await robots.policy(site.origin)).toMatchObject({ addressChecks: 'literals' });
    expect(site.requests.map(({ url }) => url)).toEqual(['/robots.txt', '/a?x=%20&y', '/b', '/c']);
    for (const { headers } of site.requests) {
      expect(headers).toMatchObject({ 'user-agent': 'ExampleBot/1.0', 'x-crawl': 'night' });
      expect(headers).not.toHaveProperty('authorization');
      expect(headers).not.toHaveProperty('cookie');
    }
  });

  it('leaves statuses to the client, and repeats nothing', async () => {
    const site = await openedSite({
      '/robots.txt': [
        // Node keeps the first of two such lines in `headers`.
        { status: 503, headers: { 'retry-after': ['3', '7'] } },
        { status: 404, body: 'nothing' },
      ],
    });
    const { robots, clock } = openedClient({ transport: make() });
    expect(await robots.check(site.url('/'))).toMatchObject({
      reason: 'unreachable',
      retryAt: clock.now() + 7_000,
      robots: { status: 503 },
    });
    clock.advance(7_001);
    expect(await robots.check(site.url('/'))).toMatchObject({
      reason: 'unavailable',
      robots: { status: 404 },
    });
    expect(site.requests).toHaveLength(2);
  });

  it('sends the fields that the client was given for one origin, and refuses private literals', async () => {
    const site = await openedSite({ '/robots.txt': { body: RULES } });
    const headersForRobots = (): Record<string, string> => ({ Authorization: 'Bearer ours' });
    await client({ transport: make(), headersForRobots }).check(site.url('/'));
    expect(site.requests[0]?.headers['authorization']).toBe('Bearer ours');
    const robots = client({ transport: make(), addressPolicy: 'public-only' });
    expect(await robots.check(site.url('/'))).toMatchObject({
      robots: { error: 'ERR_ROBOTS_ADDRESS_REFUSED' },
    });
    expect(site.requests).toHaveLength(1);
  });
});

const coded = (coding: string, body: string | Uint8Array = gzipSync(RULES)) => ({
  headers: { 'content-encoding': coding },
  body,
});

it('a connection that fails is not tried again by the instance', async () => {
  const sent = vi.fn();
  const instance = axios.create();
  instance.interceptors.request.use((config) => {
    sent();
    return config;
  });
  axiosRetry(instance, { retries: 2, retryCondition: () => true });
  const hooks = { beforeRequest: [() => void sent()] };
  const retry = {
    limit: 2,
    calculateDelay: ({ computedValue }: { computedValue: number }) => computedValue && 1,
  };
  for (const transport of [axiosTransport(instance), overGot({ hooks, retry })]) {
    const decision = await client({ transport }).check(`http://${REFUSING_HOST}/`);
    expect(decision).toMatchObject({ reason: 'unreachable', robots: { error: 'ECONNREFUSED' } });
    expect(sent).toHaveBeenCalledOnce();
    sent.mockClear();
  }
});

const adapter: AxiosAdapter = async (config) => ({
  status: 200,
  statusText: '',
  headers: {},
  config,
  data: RULES,
});

it('the fetch adapter of axios 1.11 and earlier, which has a fetch of its own, is refused', async () => {
  const instance = axios.create({ adapter: 'fetch' });
  const request = (config: object): Promise<unknown> => axios.request({ ...config, adapter });
  const transport = axiosTransport(Object.assign(instance, { request }));
  await expect(client({ transport }).check('http://example.test/')).rejects.toMatchObject({
    code: 'ERR_ROBOTS_INVALID_OPTIONS',
    message: expect.stringContaining('axios 1.12 or later'),
  });
});

it('an adapter of axios that is a mock gives the body as text', async () => {
  const robots = client({ transport: overAxios({ adapter }) });
  expect(await robots.check('http://example.test/private')).toMatchObject({ reason: 'rule' });
});

/** Gives a request the refusal of a proxy in place of a tunnel, as https-proxy-agent does. */
class RefusingProxyAgent extends HttpsAgent {
  override createConnection(): Socket {
    const socket = new Socket();
    socket.push('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    socket.push(null);
    return socket;
  }
}

describe('proxies and TLS of an instance', () => {
  const host = 'localhost';
  const authority = makeAuthority();
  const secureSite = async (): Promise<Site> =>
    opened(
      await startRawSite(
        (socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${RULES.length}\r\n\r\n${RULES}`),
        authority.issue({ host }),
      ),
    );
  const withProxy = (url: string): CreateAxiosDefaults => {
    const { hostname, port } = new URL(url);
    return { proxy: { protocol: 'http', host: hostname, port: Number(port) } };
  };

  it('hold for robots.txt: a certificate that the instance takes', async () => {
    const site = await secureSite();
    const transports = [
      overGot({ https: { rejectUnauthorized: false } }),
      overAxios({ httpsAgent: new HttpsAgent({ rejectUnauthorized: false }) }),
    ];
    for (const transport of transports)
      expect(await client({ transport }).check(site.url('/private'))).toMatchObject({ reason: 'rule' });
    expect(await client({ transport: overGot({}) }).check(site.url('/private'))).toMatchObject({
      reason: 'unreachable',
      robots: { error: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
    });
  });

  it('hold for robots.txt: a proxy, for plain requests and by a tunnel', async () => {
    const [proxy, plain, secure] = [
      opened(await startProxy()),
      await openedSite({ '/robots.txt': { body: RULES } }),
      await secureSite(),
    ];
    const httpsAgent = new HttpsAgent({ ca: authority.cert });
    const robots = client({ transport: overAxios({ ...withProxy(proxy.url), httpsAgent }) });
    expect(await robots.check(plain.url('/private').replace('127.0.0.1', 'site.test'))).toMatchObject({
      reason: 'rule',
    });
    expect(await robots.check(secure.url('/private'))).toMatchObject({ reason: 'rule' });
    expect(proxy.requests).toEqual([plain.url('/robots.txt').replace('127.0.0.1', 'site.test')]);
    expect(proxy.tunnels.map((tunnel) => tunnel.authority)).toEqual([new URL(secure.origin).host]);
  });

  it.each(['http', 'https'])('a refusal of the proxy is not the answer of the site (%s)', async (scheme) => {
    const headers = { 'x-squid-error': 'ERR_ACCESS_DENIED 0' };
    const proxy = opened(await startProxy({ refusal: { status: 403, headers } }));
    const overProxy = [overAxios(withProxy(proxy.url))];
    if (scheme === 'https') {
      overProxy.push(overAxios({ httpsAgent: new RefusingProxyAgent() }));
      overProxy.push(overGot({ agent: { https: new RefusingProxyAgent() } }));
    }
    for (const transport of overProxy) {
      expect(await client({ transport }).check(`${scheme}://site.test/`)).toMatchObject({
        allowed: false,
        reason: 'unreachable',
        robots: { error: 'ERR_ROBOTS_PROXY', status: 403 },
      });
    }
    expect(proxy.tunnels.length + proxy.requests.length).toBe(1);
  });

  it.each(['Bad response: 407', 'tunneling socket could not be established, statusCode=407'])(
    'a tunnel that was refused is told by the error of an agent: %s',
    async (message) => {
      class FailingAgent extends HttpsAgent {
        override createConnection(): never {
          throw new Error(message);
        }
      }
      const https = new FailingAgent();
      for (const transport of [overGot({ agent: { https } }), overAxios({ httpsAgent: https })]) {
        expect(await client({ transport }).check('https://site.test/')).toMatchObject({
          robots: { error: 'ERR_ROBOTS_PROXY', status: 407 },
        });
      }
    },
  );

  it('are chosen for each request by a hook of the instance', async () => {
    const site = await openedSite({ '/robots.txt': { body: RULES } });
    const used: string[] = [];
    class NamedAgent extends HttpAgent {
      readonly #name: string;
      constructor(name: string) {
        super();
        this.#name = name;
      }
      override createConnection(...connecting: Parameters<HttpAgent['createConnection']>) {
        used.push(this.#name);
        return super.createConnection(...connecting);
      }
    }
    let requests = 0;
    const crawler = got.extend({
      hooks: {
        beforeRequest: [(options) => void (options.agent = { http: new NamedAgent(`proxy ${++requests}`) })],
      },
    });
    const robots = client({ transport: gotTransport(crawler) });
    const polite = crawler.extend(gotHooks(robots));
    await expect(polite(site.url('/private'))).rejects.toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
    await polite(site.url('/page'), { throwHttpErrors: false });
    // The first chose one, and waited for robots.txt.
    expect(used).toEqual(['proxy 2', 'proxy 3']);
  });
});

describe('an instance that is guarded for the client whose transport it is', () => {
  /** A robots.txt that a guard which waits for it would wait for without end: at another path, and on another site. */
  async function sites(): Promise<Site> {
    const rules = await openedSite({
      '/robots.txt': movedTo('/rules'),
      '/rules': { body: RULES },
    });
    return openedSite({
      '/robots.txt': movedTo(rules.url('/rules')),
      '/page': { body: 'a page' },
    });
  }

  async function expectDecided(robots: RobotsClient, get: (url: string) => Promise<unknown>): Promise<void> {
    const site = await sites();
    using report = crawlReport(robots);
    await get(site.url('/page'));
    await expect(get(site.url('/private'))).rejects.toThrow(/disallow/);
    expect(site.requests.map(({ url }) => url)).toEqual(['/robots.txt', '/page']);
    expect(report.totals()).toMatchObject({ sent: 1, refused: 1 });
  }

  it('got', async () => {
    const instance: Got = got.extend({ mutableDefaults: true });
    const robots = client({ transport: gotTransport(instance) });
    const { hooks, handlers } = gotHooks(robots, { pacing: { defaultDelayMs: 0 } });
    instance.defaults.options.merge({ hooks });
    instance.defaults.handlers.push(...handlers);
    await expectDecided(robots, (url) => instance(url));
  });

  it.each(['http', 'fetch'] as const)('axios by %s', async (adapter) => {
    const instance = axios.create({ adapter });
    const robots = client({ transport: axiosTransport(instance) });
    guardAxios(instance, robots, { pacing: { defaultDelayMs: 0 } });
    await expectDecided(robots, (url) => instance.get(url));
  });

  it('axios by a fetch that is guarded itself', async () => {
    const env: { fetch?: typeof fetch } = {};
    const instance = axios.create({ adapter: 'fetch', env });
    const robots = client({ transport: axiosTransport(instance) });
    const guarded = guardFetch(fetch, robots);
    Object.assign(instance.defaults, { env: { ...instance.defaults.env, fetch: guarded } });
    await expectDecided(robots, (url) => instance.get(url));
  });
});

it('undici is not loaded for a client with such a transport', async () => {
  const site = await openedSite({ '/robots.txt': { body: RULES } });
  using script = compileScript(new URL('transport-process.ts', import.meta.url));
  const worker = startWorker(script, [site.url('/private')]);
  for (const isLoaded of [false, false, true])
    expect(await worker.next()).toEqual({ allowed: false, isLoaded });
  expect(await worker.ended()).toMatchObject({ code: 0 });
});

describe('what is no instance', () => {
  it.each([undefined, {}, axios, { stream: () => undefined, defaults: { options: {} } }])(
    'is refused by gotTransport (%#)',
    (instance) => {
      expect(() => Reflect.apply(gotTransport, undefined, [instance])).toThrow(
        /an instance of got 14 or later/,
      );
    },
  );

  it.each([undefined, {}, got])('is refused by axiosTransport (%#)', (instance) => {
    expect(() => Reflect.apply(axiosTransport, undefined, [instance])).toThrow(/an instance of axios 1/);
  });

  it.each([got, axios])('and an instance is no transport (%#)', (transport) => {
    const options: object = { transport };
    expect(() => client(options)).toThrow(/or what `gotTransport` or `axiosTransport` returns/);
  });
});

it('guardFetch and its client share a fetch', async () => {
  const site = await openedSite({ '/robots.txt': { body: RULES }, '/page': { body: 'a page' } });
  const own = vi.fn(fetch);
  const robots = client({ transport: { fetch: own } });
  expect(await (await guardFetch(own, robots)(site.url('/page'))).text()).toBe('a page');
  expect(own).toHaveBeenCalledTimes(2);
});
