import { RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { type FetchedBody, fetchTransport } from '../../core/fetch/index.ts';
import { nodeHeaders, nodeTransport } from '../../core/fetch/node-transport.ts';
import { OWN_REQUEST, type ResponseHeaders, type Transport } from '../../core/fetch/transport.ts';
import { Readable } from 'node:stream';

/** The part of an axios instance that its guard and its transport use. */
export interface AxiosLike {
  getUri(config?: object): string;
  request(config: object): Promise<unknown>;
  readonly interceptors: {
    readonly request: { readonly use: (onFulfilled: never) => number };
  };
}

/**
 * Instances of axios 1 have the `constructor` of their class, or a list of adapters (from 1.2 on). Instances of axios 0
 * have neither, and no guard can read their header fields and redirects.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function assertServed(instance: object): void {
  const { request }: { request?: unknown } = Object(instance);
  const { adapter } = defaultsOf(instance);
  const isAxios0 = typeof adapter === 'function' && !Object.hasOwn(instance, 'constructor');
  if (typeof request === 'function' && !isAxios0) return;
  throw new RobotsInvalidOptionsError(
    `Expected an instance of axios 1, got ${isAxios0 ? 'one of axios 0; update the package `axios`' : 'something else'}`,
  );
}

/** The config of an instance. */
export function defaultsOf(instance: object): { readonly adapter?: unknown } {
  const { defaults }: { defaults?: object } = Object(instance);
  return Object(defaults);
}

/** A new instance, without interceptors and defaults. */
export function bareInstance(instance: AxiosLike): { request(config: object): Promise<never> } {
  const { create, constructor }: { create?: unknown; constructor: unknown } = Object(instance);
  // Instances of the class itself have no `create`.
  const bare =
    typeof create === 'function'
      ? Reflect.apply(create, instance, [{}])
      : Reflect.construct(constructor as new () => unknown, [{}]);
  for (const name of Object.keys(bare.defaults)) delete bare.defaults[name];
  return bare;
}

/** Earlier versions call no `fetch` of their config. */
export function earlierAxios(): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    'Expected axios 1.12 or later for `adapter: "fetch"`, got one whose requests cannot be seen; update the package `axios`',
  );
}

/** Whether axios sends over `fetch`: it uses the first adapter that works, and `xhr` does not work in Node. */
export function usesFetch(adapter: unknown): boolean {
  const names: readonly unknown[] = Array.isArray(adapter) ? adapter : [adapter];
  return names.find((name) => name !== 'xhr') === 'fetch';
}

/**
 * Sends robots.txt by an instance of axios, with its agents, `proxy`, TLS settings, header fields, request interceptors,
 * adapter and mocks. For these requests the instance follows no redirect, retries nothing (`axios-retry`), decodes nothing,
 * transforms nothing, shows them to no response interceptor, and uses neither its `auth` and cookie fields nor its `baseURL`
 * and `params`: the client does as over its own connections. The instance may be guarded by {@link guardAxios} for the same
 * client.
 *
 * The client does not see where the instance connects: its `addressPolicy` then holds for addresses in URLs (literals,
 * `localhost`) alone. If URLs come from strangers, give the instance a `lookup` or agents that refuse private addresses.
 * With `adapter: 'fetch'` no content coding is asked for, and a file that comes with one is unreachable.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 *
 * @example
 * ```ts
 * import axios from 'axios';
 * import { RobotsClient } from 'canfetch';
 * import { axiosTransport, guardAxios } from 'canfetch/axios';
 *
 * const instance = axios.create({ proxy: { host: 'proxy.example.com', port: 3128, protocol: 'http' } });
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0', transport: axiosTransport(instance) });
 * const axiosPolitely = guardAxios(instance, robots);
 * ```
 */
export function axiosTransport(instance: AxiosLike): Transport {
  assertServed(instance);
  if (!usesFetch(defaultsOf(instance).adapter)) {
    return nodeTransport(async ({ href }, init) => {
      const { data, ...response } = await send<Readable | string | Uint8Array | null>(instance, href, init);
      // Mocks that are adapters give the body as it was written down.
      const body = data instanceof Readable ? data : Readable.from([Buffer.from(data ?? '')]);
      const { socket, headersDistinct } = Object(body);
      // Node keeps one line of some fields in `headers`.
      const headers = headersDistinct === undefined ? response.headers : nodeHeaders(headersDistinct);
      return { ...response, headers, body, socket };
    });
  }
  let isServed = false;
  // One function, because axios keeps an adapter for each.
  const sendOwn = (input: string | URL | Request, init?: RequestInit & OwnInit): Promise<Response> => {
    isServed = true;
    const { env }: { env?: { fetch?: typeof fetch } } = Object(defaultsOf(instance));
    return (env?.fetch ?? fetch)(input, { ...init, ...init?.own() });
  };
  return fetchTransport(async (url, { headers, signal }) => {
    // axios would wrap a body to see the end of a signal of its own, in some versions also that of a 304, which has none.
    const own: OwnInit['own'] = () => ({ signal, redirect: 'manual', [OWN_REQUEST]: true });
    const config = { headers, fetchOptions: { own }, env: { fetch: sendOwn } };
    const { data, ...response } = await send<FetchedBody | null>(instance, url, config);
    if (!isServed) throw earlierAxios();
    return { ...response, body: data };
  });
}

/** What a request for robots.txt adds to the init of a fetch. A function, because axios copies objects. */
interface OwnInit {
  own(): RequestInit & { readonly [OWN_REQUEST]: true };
}

/** What would change the response, or say more than who asks. axios takes no `undefined`. */
const AS_SENT = {
  method: 'GET',
  baseURL: '',
  params: null,
  auth: null,
  maxRedirects: 0,
  timeout: 0,
  responseType: 'stream',
  decompress: false,
  insecureHTTPParser: false,
  maxContentLength: -1,
  validateStatus: (): boolean => true,
  'axios-retry': { retries: 0 },
  robots: OWN_REQUEST,
};

interface AxiosAnswer<Data> {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly data: Data;
}

/** Takes the response from the adapter, before interceptors of the instance can change it. */
function send<Data>(
  instance: AxiosLike,
  url: string,
  {
    headers,
    ...config
  }: {
    readonly headers: object;
    readonly signal?: AbortSignal;
    readonly fetchOptions?: object;
    readonly env?: object;
  },
): Promise<AxiosAnswer<Data>> {
  return new Promise((resolve, reject) => {
    const take = (data: Data, fields: { get(name: string): unknown }, status: number): string => {
      const get = (name: string): string | undefined => {
        const value = fields.get(name);
        return typeof value === 'string' ? value : undefined;
      };
      resolve({ status, headers: { get }, data });
      return '';
    };
    instance
      .request({
        ...AS_SENT,
        ...config,
        url,
        headers: { authorization: null, cookie: null, ...headers },
        transformResponse: [take],
      })
      .then(
        () => reject(new Error('Expected the adapter of axios to respond')),
        // Of a failure of fetch axios says `ERR_NETWORK`.
        (error: unknown) => reject(Reflect.get(Object(error), 'cause') ?? error),
      );
  });
}
