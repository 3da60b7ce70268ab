import {
  Agent,
  EnvHttpProxyAgent,
  fetch as undiciFetch,
  getGlobalDispatcher,
  interceptors,
  MockAgent,
  ProxyAgent,
  setGlobalDispatcher,
} from 'undici';
import type { Dispatcher } from 'undici';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Agent as HttpAgent } from 'node:http';
import { connect, type Socket } from 'node:net';
import axios from 'axios';
import got from 'got';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  describeDecision,
  guardFetch,
  type RobotsClient,
  type RobotsClientOptions,
  type RobotsStore,
} from '../../../src/index.ts';
import { axiosTransport } from '../../../src/guards/axios/axios.ts';
import { gotTransport } from '../../../src/guards/got/got.ts';
import { ProxyDispatcher } from '../../../src/core/net/proxy-dispatcher.ts';
import { testClient } from '../../support/client.ts';
import { lookupIn } from '../../support/internet.ts';
import { type Proxy, type ProxyOptions, startProxy } from '../../support/proxy.ts';
import { opened, openedSite as site } from '../../support/opened.ts';
import { movedTo, REFUSING_HOST, type Site } from '../../support/site.ts';

let before: Dispatcher;
beforeEach(() => {
  before = getGlobalDispatcher();
});
afterEach(() => setGlobalDispatcher(before));

const startedProxy = async (options?: ProxyOptions): Promise<Proxy> => opened(await startProxy(options));
const client = (options: RobotsClientOptions = {}): RobotsClient => opened(testClient(options).client);

function dispatcher<Made extends Dispatcher>(made: Made): Made {
  // A MockAgent cannot be destroyed.
  opened({ [Symbol.asyncDispose]: () => (made instanceof MockAgent ? made.close() : made.destroy()) });
  return made;
}

const RULES = { body: 'User-agent: *\nDisallow: /x\n' };
/** A name that the proxies of these tests alone can resolve. */
const named = ({ origin }: Site): string => origin.replace('127.0.0.1', 'site.test');
const authority = (origin: string): string => origin.slice('http://'.length);

describe('without `dispatcher`, robots.txt is requested through the global dispatcher of the application', () => {
  it('a proxy, over which pages go too', async () => {
    const [proxy, server] = [await startedProxy(), await site({ '/robots.txt': RULES })];
    setGlobalDispatcher(dispatcher(new ProxyAgent(proxy.url)));
    const robots = client();
    expect(await robots.canFetch(`${named(server)}/x`)).toBe(false);
    expect(proxy.tunnels.map((tunnel) => tunnel.authority)).toEqual([authority(named(server))]);
    expect(server.requests).toHaveLength(1);
  });

  it('the dispatcher in the wrapper of undici 8, which itself passes by a mock', async () => {
    class Dispatcher1Wrapper extends Agent {}
    const mock = dispatcher(new MockAgent());
    mock.disableNetConnect();
    mock.get('http://site.test').intercept({ path: '/robots.txt' }).reply(200, RULES.body);
    const next = Symbol.for('undici.globalDispatcher.2');
    const previous: unknown = Reflect.get(globalThis, next);
    setGlobalDispatcher(dispatcher(new Dispatcher1Wrapper()));
    Reflect.set(globalThis, next, mock);
    try {
      expect(await client().canFetch('http://site.test/x')).toBe(false);
    } finally {
      Reflect.set(globalThis, next, previous);
    }
  });

  it.each<[string, () => Dispatcher]>([
    ['an agent of a class of its own', () => new MockAgent()],
    [
      'an agent with a connector',
      () => new Agent({ connect: (_, callback) => callback(new Error('no'), null) }),
    ],
    [
      'an agent with another factory',
      () =>
        new Agent({
          factory: () => {
            throw new Error('no');
          },
        }),
    ],
    [
      'an agent with an interceptor',
      () =>
        new Agent().compose(() => () => {
          throw new Error('no');
        }),
    ],
  ])('%s, with any behaviour', async (_, make) => {
    const server = await site({ '/robots.txt': RULES });
    const made = make();
    if (made instanceof MockAgent) made.disableNetConnect();
    setGlobalDispatcher(dispatcher(made));
    expect(await client().check(server.url('/x'))).toMatchObject({ reason: 'unreachable' });
    expect(server.requests).toEqual([]);
  });

  it('anything that can dispatch', async () => {
    const server = await site({ '/robots.txt': RULES });
    const agent = dispatcher(new Agent());
    let dispatched = 0;
    const bare = {
      dispatch(...given: Parameters<Dispatcher['dispatch']>) {
        dispatched++;
        return agent.dispatch(...given);
      },
    };
    Reflect.apply(setGlobalDispatcher, undefined, [bare]);
    expect(await client().canFetch(server.url('/x'))).toBe(false);
    expect(dispatched).toBe(1);
  });

  it('each attempt reads the global dispatcher again', async () => {
    const [first, second] = [await startedProxy(), await startedProxy()];
    const sites = [await site({}), await site({}), await site({})];
    const robots = client();
    setGlobalDispatcher(dispatcher(new ProxyAgent(first.url)));
    await robots.canFetch(sites[0]!.url('/'));
    setGlobalDispatcher(dispatcher(new ProxyAgent(second.url)));
    await robots.canFetch(sites[1]!.url('/'));
    setGlobalDispatcher(before);
    await robots.canFetch(sites[2]!.url('/'));
    expect([first.tunnels.length, second.tunnels.length]).toEqual([1, 1]);
    expect(sites.map(({ requests }) => requests.length)).toEqual([1, 1, 1]);
  });

  it('each redirect is followed here, even if an interceptor would follow it', async () => {
    const server = await site({
      '/robots.txt': movedTo('/moved.txt'),
      '/moved.txt': RULES,
    });
    setGlobalDispatcher(dispatcher(new Agent()).compose(interceptors.redirect({ maxRedirections: 5 })));
    expect((await client().check(server.url('/x'))).robots).toMatchObject({
      finalUrl: server.url('/moved.txt'),
      hops: 1,
    });
  });

  it('not the plain agent that a copy of undici, or `fetch`, set by itself', async () => {
    const server = await site({ '/robots.txt': RULES });
    const plain = dispatcher(new Agent());
    plain.on('connect', () => expect.unreachable('the global agent was used'));
    setGlobalDispatcher(plain);
    expect(await client().canFetch(server.url('/x'))).toBe(false);
    expect(server.requests).toHaveLength(1);
  });
});

describe('the address policy over a global dispatcher', () => {
  it('refuses literal private addresses that a public name redirects to', async () => {
    const [proxy, secret] = [await startedProxy(), await site({ '/robots.txt': RULES })];
    const server = await site({ '/robots.txt': movedTo(secret.url('/robots.txt')) });
    setGlobalDispatcher(dispatcher(new ProxyAgent(proxy.url)));
    expect(await client().check(`${named(server)}/x`)).toMatchObject({
      reason: 'unreachable',
      robots: { error: 'ERR_ROBOTS_ADDRESS_REFUSED' },
    });
    expect(proxy.tunnels).toHaveLength(1);
    expect(secret.requests).toEqual([]);
  });

  it("sends no name under 'public-only': the address that the proxy would choose cannot be checked", async () => {
    const [proxy, server] = [await startedProxy(), await site({ '/robots.txt': RULES })];
    const agent = dispatcher(new ProxyAgent(proxy.url));
    setGlobalDispatcher(agent);
    expect(await client({ addressPolicy: 'public-only' }).check(`${named(server)}/x`)).toMatchObject({
      reason: 'unreachable',
      robots: { error: 'ERR_ROBOTS_ADDRESS_UNKNOWN' },
    });
    expect(proxy.tunnels).toEqual([]);
    // Handed over by the caller, it is the caller's word that it leads to public addresses alone.
    const handedOver = client({ addressPolicy: 'public-only', dispatcher: agent });
    expect(await handedOver.canFetch(`${named(server)}/x`)).toBe(false);
    expect(server.requests).toHaveLength(1);
  });

  it("sends literal public addresses under 'public-only'", async () => {
    const [proxy, server] = [await startedProxy(), await site({ '/robots.txt': RULES })];
    setGlobalDispatcher(dispatcher(new ProxyAgent(proxy.url)));
    const robots = client({ addressPolicy: 'public-only' });
    expect(await robots.check(server.origin.replace('127.0.0.1', '8.8.8.8') + '/x')).toMatchObject({
      reason: 'rule',
    });
    expect(proxy.tunnels).toHaveLength(1);
  });
});

describe('pages of a guard with an address policy, over a global dispatcher', () => {
  it('go through it, as robots.txt does', async () => {
    const [proxy, server] = [
      await startedProxy(),
      await site({ '/robots.txt': RULES, '/page': { body: 'a page' } }),
    ];
    setGlobalDispatcher(dispatcher(new ProxyAgent(proxy.url)));
    const guarded = guardFetch(undiciFetch, client(), { addressPolicy: 'no-public-to-private' });
    expect(await (await guarded(`${named(server)}/page`)).text()).toBe('a page');
    expect(proxy.tunnels).toHaveLength(2);
    expect(server.requests.map(({ url }) => url)).toEqual(['/robots.txt', '/page']);
  });

  it("are refused by name under 'public-only': the address that the proxy reaches cannot be checked", async () => {
    const [proxy, server] = [await startedProxy(), await site({ '/robots.txt': RULES })];
    setGlobalDispatcher(dispatcher(new ProxyAgent(proxy.url)));
    const guarded = guardFetch(undiciFetch, client({ addressPolicy: 'public-only' }), {
      addressPolicy: 'public-only',
    });
    await expect(guarded(`${named(server)}/page`)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_ADDRESS_REFUSED',
      host: 'site.test',
    });
    expect([proxy.tunnels, server.requests]).toEqual([[], []]);
  });
});

/** Node's own switch for proxies of the environment: 22.21, 24.5 and above have it. */
const hasSwitch = process.allowedNodeEnvironmentFlags.has('--use-env-proxy');

describe.skipIf(!hasSwitch)("the environment's proxy, where Node itself would use it", () => {
  it.each<[string, string[], Record<string, string>, number]>([
    ['NODE_USE_ENV_PROXY', [], { NODE_USE_ENV_PROXY: '1' }, 2],
    ['--use-env-proxy', ['--use-env-proxy'], {}, 2],
    ['NO_PROXY', [], { NODE_USE_ENV_PROXY: '1', NO_PROXY: 'site.test' }, 0],
    ['neither', [], {}, 0],
  ])('%s: robots.txt goes the way of the page', async (_, flags, variables, requests) => {
    const [proxy, server] = [await startedProxy(), await site({ '/robots.txt': RULES })];
    const child = await promisify(execFile)(
      process.execPath,
      [...flags, fileURLToPath(new URL('env-proxy-child.ts', import.meta.url)), `${named(server)}/x`],
      { env: { PATH: process.env['PATH'], HTTP_PROXY: proxy.url, ...variables } },
    );
    const { robots, page } = JSON.parse(child.stdout) as { robots: string; page: string };
    expect([robots, page]).toEqual(requests > 0 ? ['rule', '404'] : ['unreachable', 'failed']);
    expect(proxy.tunnels.length + proxy.requests.length).toBe(requests);
    expect(server.requests.map(({ url }) => url)).toEqual(requests > 0 ? ['/robots.txt', '/x'] : []);
  });
});

/** Ways over a proxy. Of the last two a plain request goes to it in absolute form. */
const WAYS: readonly (readonly [string, (url: string) => RobotsClientOptions])[] = [
  ['a tunnel', (uri) => ({ dispatcher: dispatcher(new ProxyAgent(uri)) })],
  ['the environment', (httpProxy) => ({ dispatcher: dispatcher(new EnvHttpProxyAgent({ httpProxy })) })],
  [
    'fetch',
    (uri) => {
      const agent = dispatcher(new ProxyAgent(uri));
      return { transport: { fetch: (url, init) => undiciFetch(url, { ...init, dispatcher: agent }) } };
    },
  ],
  ['absolute form', (uri) => ({ dispatcher: dispatcher(new ProxyAgent({ uri, proxyTunnel: false })) })],
  [
    'the proxy of the command',
    (http) => {
      const proxies = dispatcher(new ProxyDispatcher({ http }));
      return { dispatcher: (url) => proxies.proxyFor(url) };
    },
  ],
];

describe.each(WAYS)('the refusals of a proxy over %s', (name, options) => {
  const REFUSALS = [
    { status: 403, headers: { 'x-squid-error': 'ERR_ACCESS_DENIED 0' } },
    { status: 404, headers: { 'proxy-status': 'proxy.example; error=http_request_denied' } },
    { status: 407, headers: { 'proxy-authenticate': 'Basic realm="x"' } },
    { status: 502, headers: { 'proxy-status': '"a; b"; details="x"; error=connection_refused' } },
    {
      status: 302,
      headers: { 'x-squid-error': '302:http://portal.test/ 0', location: 'http://portal.test/' },
    },
  ];

  it.each(REFUSALS)('with $status are unreachable, not the answer of the site', async (refusal) => {
    const [proxy, server] = [await startedProxy({ refusal }), await site({ '/robots.txt': RULES })];
    const decision = await client(options(proxy.url)).check(`${named(server)}/y`);
    expect(decision).toMatchObject({
      allowed: false,
      reason: 'unreachable',
      robots: { error: 'ERR_ROBOTS_PROXY', status: refusal.status },
    });
    expect(proxy.tunnels.length + proxy.requests.length).toBe(1);
    expect(server.requests).toEqual([]);
  });

  it.each([
    [403, 'unavailable', {}],
    [404, 'unavailable', { 'proxy-status': 'proxy.example; details="a; error=x"; received-status=404' }],
  ])('is not the %i of the site', async (status, reason, headers) => {
    const [proxy, server] = [await startedProxy(), await site({ '/robots.txt': { status, headers } })];
    const decision = await client(options(proxy.url)).check(`${named(server)}/y`);
    expect(decision).toMatchObject({ allowed: true, reason, robots: { status } });
    expect(server.requests).toHaveLength(1);
    expect(proxy.requests.length > 0).toBe(name === 'absolute form' || name === 'the proxy of the command');
  });
});

/** A client behind a proxy that is not there. */
describe.each<readonly [string, (url: string) => RobotsClientOptions]>([
  ...WAYS,
  [
    'got with an agent',
    (url) => {
      const { hostname: host, port } = new URL(url);
      class ProxyingAgent extends HttpAgent {
        override createConnection(): Socket {
          return connect({ host, port: Number(port) });
        }
      }
      return { transport: gotTransport(got.extend({ agent: { http: new ProxyingAgent() } })) };
    },
  ],
  [
    'axios with a proxy',
    (url) => {
      const { hostname: host, port } = new URL(url);
      return { transport: axiosTransport(axios.create({ proxy: { host, port: Number(port) } })) };
    },
  ],
])('a proxy that is down, over %s', (_, options) => {
  it('is told from the site, by name and by address, and no state of the site in the store', async () => {
    const proxy = `http://${REFUSING_HOST}`;
    const server = await site({ '/robots.txt': RULES });
    const set = vi.fn();
    const store: RobotsStore = { get: () => undefined, set, delete: () => {} };
    const robots = client({ ...options(proxy), store });
    for (const url of [`${named(server)}/y`, server.url('/y')]) {
      const decision = await robots.check(url);
      expect(decision).toMatchObject({
        reason: 'unreachable',
        robots: { error: 'ERR_ROBOTS_PROXY', detail: `${REFUSING_HOST}, ECONNREFUSED` },
      });
      expect(describeDecision(decision)).toContain(
        `is unreachable (no connection to the proxy (${REFUSING_HOST}, ECONNREFUSED), ERR_ROBOTS_PROXY), so`,
      );
    }
    expect(server.requests).toEqual([]);
    await robots.close();
    expect(set).not.toHaveBeenCalled();
  });
});

it('after a proxy that was down `invalidate` makes the next question ask again', async () => {
  const [proxy, server] = [await startedProxy(), await site({ '/robots.txt': RULES })];
  const agents = [`http://${REFUSING_HOST}`, proxy.url].map((url) => dispatcher(new ProxyAgent(url)));
  let isUp = false;
  const robots = client({ dispatcher: () => agents[Number(isUp)] });
  expect(await robots.canFetch(`${named(server)}/y`)).toBe(false);
  isUp = true;
  expect(await robots.canFetch(`${named(server)}/y`)).toBe(false);
  await robots.invalidate(named(server));
  expect(await robots.canFetch(`${named(server)}/y`)).toBe(true);
});

describe('a connection that is refused', () => {
  it('by the port of the site names the address; by the address in the URL it does not repeat it', async () => {
    const port = REFUSING_HOST.split(':')[1]!;
    const robots = client({ lookup: lookupIn({ 'site.test': ['127.0.0.1'] }) });
    expect(describeDecision(await robots.check(`http://site.test:${port}/`))).toContain(
      `(${REFUSING_HOST} refused the connection, ECONNREFUSED)`,
    );
    expect(describeDecision(await robots.check(`http://${REFUSING_HOST}/`))).toContain(
      '(the server refused the connection, ECONNREFUSED)',
    );
  });
});

describe('without a proxy', () => {
  it('407 and marks of a gateway are the answer of the site', async () => {
    const server = await site({ '/robots.txt': { status: 407 } });
    const gateway = await site({
      '/robots.txt': {
        status: 404,
        headers: { 'x-squid-error': 'ERR_INVALID_URL 0', 'proxy-status': 'a; error=b' },
      },
    });
    const robots = client();
    expect(await robots.check(server.url('/x'))).toMatchObject({
      reason: 'unavailable',
      robots: { status: 407 },
    });
    expect(await robots.check(gateway.url('/x'))).toMatchObject({
      reason: 'unavailable',
      robots: { status: 404 },
    });
  });
});

describe('a dispatcher for each URL', () => {
  it('sends the request, for redirects too; without one the client connects by itself', async () => {
    const target = await site({ '/robots.txt': RULES });
    const location = named(target).concat('/robots.txt');
    const first = await site({ '/robots.txt': movedTo(location) });
    const proxy = await startedProxy();
    const agent = dispatcher(new ProxyAgent(proxy.url));
    const asked: string[] = [];
    const robots = client({
      dispatcher: (url) => {
        asked.push(url.href);
        return url.hostname === 'site.test' ? agent : undefined;
      },
    });
    expect(await robots.check(first.url('/y'))).toMatchObject({ robots: { hops: 1, status: 200 } });
    expect(asked).toEqual([first.url('/robots.txt'), location]);
    expect(first.requests).toHaveLength(1);
    expect(target.requests).toHaveLength(1);
    expect(proxy.tunnels.map((tunnel) => tunnel.authority)).toEqual([new URL(location).host]);
  });

  it('may be others from request to request, none of which is closed, or keeps a listener', async () => {
    const agents = Array.from({ length: 120 }, () => dispatcher(new Agent()));
    const sites = await Promise.all(agents.map(() => site({ '/robots.txt': RULES })));
    const robots = client({
      dispatcher: ({ origin }) => agents[sites.findIndex((each) => each.origin === origin)],
    });
    for (const each of sites) expect(await robots.canFetch(each.url('/x'))).toBe(false);
    await robots.close();
    for (const agent of agents) {
      expect(agent.closed).toBe(false);
      expect(agent.listenerCount('connect')).toBe(0);
    }
  });

  it('is checked as its own connections are, where it gives none', async () => {
    const server = await site({ '/robots.txt': RULES });
    const lookup = lookupIn({ 'site.test': ['127.0.0.1'] });
    const robots = client({ addressPolicy: 'public-only', dispatcher: () => undefined, lookup });
    expect(await robots.check(`${named(server)}/x`)).toMatchObject({
      robots: { error: 'ERR_ROBOTS_ADDRESS_REFUSED' },
    });
    const agent = dispatcher(new Agent());
    const unknown = client({ addressPolicy: 'public-only', dispatcher: () => agent });
    expect(await unknown.check('http://name.test/x')).toMatchObject({
      robots: { error: 'ERR_ROBOTS_ADDRESS_UNKNOWN' },
    });
    expect(server.requests).toEqual([]);
  });

  it.each([
    [
      'no dispatcher',
      (): never => ({}) as never,
      /`dispatcher\("http:.*robots.txt"\)` to be an undici Dispatcher/,
    ],
    ['null', (): never => null as never, /an undici Dispatcher or undefined, got null/],
    [
      'an error',
      (): never => {
        throw new Error('no');
      },
      /`dispatcher` failed for "http:/,
    ],
    ['a class', Agent as never, /`dispatcher` failed for "http:/],
  ])('that is %s rejects the question', async (_, choose, message) => {
    const server = await site({ '/robots.txt': RULES });
    const asked = client({ dispatcher: choose }).check(server.url('/x'));
    await expect(asked).rejects.toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
      message: expect.stringMatching(message),
    });
    expect(server.requests).toEqual([]);
  });

  it('is no text', () => {
    const options: RobotsClientOptions = JSON.parse('{"dispatcher":"http://proxy"}');
    expect(() => client(options)).toThrow(/`dispatcher` to be an undici Dispatcher, or a function/);
  });
});
