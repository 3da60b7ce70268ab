import { ignore, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { FetchFailure, MALFORMED } from '../../core/fetch/failure.ts';
import { type NodeAnswer, nodeHeaders, nodeTransport } from '../../core/fetch/node-transport.ts';
import { OWN_REQUEST, type Transport } from '../../core/fetch/transport.ts';
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/** The part of an instance of got that {@link gotTransport} uses. */
export interface GotInstance {
  stream(url: URL, options: object): Readable;
  readonly defaults: { readonly options: object };
}

/**
 * Sends robots.txt by an instance of got, with its agents (proxies), TLS settings, header fields, `beforeRequest` hooks and
 * mocks. For these requests the instance follows no redirect, retries nothing, decodes nothing, and uses neither its cache
 * nor its cookies, credentials, `prefixUrl` and `searchParams`: the client does as over its own connections. The instance
 * may be guarded by {@link gotHooks} for the same client.
 *
 * The client does not see where the instance connects: its `addressPolicy` then holds for addresses in URLs (literals,
 * `localhost`) alone. If URLs come from strangers, give the instance a `dnsLookup` or an agent that refuses private
 * addresses.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 *
 * @example
 * ```ts
 * import got from 'got';
 * import { RobotsClient } from 'canfetch';
 * import { gotHooks, gotTransport } from 'canfetch/got';
 *
 * const crawler = got.extend({ https: { rejectUnauthorized: false } });
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0', transport: gotTransport(crawler) });
 * const gotPolitely = crawler.extend(gotHooks(robots));
 * ```
 */
export function gotTransport(instance: GotInstance): Transport {
  const { stream, defaults }: Partial<GotInstance> = Object(instance);
  if (typeof stream !== 'function' || !('merge' in Object(defaults?.options))) {
    throw new RobotsInvalidOptionsError('Expected an instance of got 14 or later, got something else');
  }
  return nodeTransport((url, init) => send(instance, url, init));
}

/** What would change the response, or say more than who asks. */
const AS_SENT = {
  method: 'GET',
  followRedirect: false,
  retry: { limit: 0 },
  throwHttpErrors: false,
  decompress: false,
  cache: false,
  maxHeaderSize: 65_536,
  prefixUrl: '',
  username: '',
  password: '',
  context: { robots: OWN_REQUEST },
  hooks: {
    // got merges options, and takes no `undefined`.
    init: [
      (_given: object, options: object): void => {
        Object.assign(options, { cookieJar: undefined, searchParams: undefined, timeout: {} });
      },
    ],
  },
};

async function send(
  instance: GotInstance,
  url: URL,
  { headers, signal }: { readonly headers: object; readonly signal: AbortSignal },
): Promise<NodeAnswer> {
  const body = instance.stream(url, {
    ...AS_SENT,
    headers: { authorization: undefined, cookie: undefined, ...headers },
    signal,
  });
  body.on('error', ignore);
  body.once('request', (request: ClientRequest) => {
    // After an error within a body, got would first read the rest.
    request.once('error', (error) => body.destroy(error));
    // Without a listener Node would keep the connection open, and say nothing.
    request.once('upgrade', (_response, socket) => {
      socket.destroy();
      body.destroy(new FetchFailure(MALFORMED));
    });
  });
  const [response] = await once(body, 'response');
  // Node keeps one line of some fields in `headers`.
  const { statusCode = 0, headersDistinct: fields, socket }: IncomingMessage = response;
  return { status: statusCode, headers: nodeHeaders(fields), body, socket };
}
