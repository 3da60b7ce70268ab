import { codeOf, LightAbortController } from '../base/index.ts';
import type { Connector } from '../net/index.ts';
import { FetchFailure, MALFORMED } from './failure.ts';
import { NO_APPLICATION_PROTOCOL, requestOverHttp2 } from './http2-request.ts';
import { ReusedSockets } from './reused-sockets.ts';
import { checkingStatusLines } from './status-line.ts';
import { OWN_REQUEST, type TransportRequest } from './transport.ts';
import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, errors } from 'undici';

/** A response of undici, or over HTTP/2. */
export type ResponseData = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'> & {
  readonly body: Readable;
  readonly hidesFields?: boolean;
};

/**
 * The most interim responses to one request. RFC 9110 §15.2 makes clients accept them and sets no limit, and each may
 * be as long as a header section.
 */
const MAX_INTERIM = 32;

/** The most octets of a header section. */
const MAX_HEADER_OCTETS = 65_536;

/**
 * One small GET per origin: a connection is kept just long enough for a redirect within the origin, so that no idle
 * sockets stay open to ten thousand hosts. The attempt's deadline replaces undici's own timers.
 */
const AGENT_OPTIONS: Agent.Options = {
  keepAliveTimeout: 1_000,
  keepAliveMaxTimeout: 1_000,
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: MAX_HEADER_OCTETS,
};

/**
 * HTTP/1.1, and HTTP/2 for the sites that speak nothing else: they end the TLS handshake because HTTP/2 is not offered,
 * and are asked again. Other sites need no second handshake.
 */
export class Connections {
  readonly #connectorWith: (options: { readonly allowH2: boolean }) => Connector;
  readonly #agents: AgentPair;
  readonly #closing = new LightAbortController();
  #http2: Connector | undefined;

  constructor(connectorWith: (options: { readonly allowH2: boolean }) => Connector) {
    this.#connectorWith = connectorWith;
    this.#agents = new AgentPair(checkingStatusLines(connectorWith({ allowH2: false })));
  }

  async request(url: URL, init: TransportRequest): Promise<ResponseData> {
    try {
      return await this.#agents.request(url, init);
    } catch (error) {
      if (codeOf(error) !== NO_APPLICATION_PROTOCOL || init.signal.aborted || this.#closing.aborted)
        throw error;
    }
    this.#http2 ??= this.#connectorWith({ allowH2: true });
    return this.#overHttp2(this.#http2, url, init);
  }

  async #overHttp2(
    connect: Connector,
    url: URL,
    { headers, signal }: TransportRequest,
  ): Promise<ResponseData> {
    const controller = new LightAbortController();
    const abort = (): void => controller.abort(signal.reason);
    const close = (): void => controller.abort(this.#closing.reason);
    signal.addEventListener('abort', abort, { once: true });
    this.#closing.addEventListener('abort', close);
    const over = (): void => {
      signal.removeEventListener('abort', abort);
      this.#closing.removeEventListener('abort', close);
    };
    try {
      const response = await requestOverHttp2({
        connect,
        url,
        // Malformed fields vanish below Node. So nothing is to depend on a field that names a coding.
        headers: { ...headers, 'accept-encoding': 'identity' },
        signal: controller,
        maxInterim: MAX_INTERIM,
        maxHeaderOctets: MAX_HEADER_OCTETS,
      });
      response.body.once('close', over);
      const { status, headers: fields, body } = response;
      return { statusCode: status, headers: fields, body, hidesFields: true };
    } catch (error) {
      over();
      throw error;
    }
  }

  async destroy(): Promise<void> {
    this.#closing.abort(new errors.ClientDestroyedError());
    await this.#agents.destroy();
  }
}

/**
 * A client with one connection per origin is much cheaper than a pool, but it queues. Most origins get one request at
 * a time. A host that many others redirect to gets several, and one slow answer must not hold them up: while an
 * origin has a request in flight, further requests go through a second agent with as many connections as needed.
 */
class AgentPair {
  readonly #connect: Connector;
  readonly #busy = new Set<string>();
  readonly #sockets = new ReusedSockets();
  #single: Agent | undefined;
  #several: Agent | undefined;

  constructor(connect: Connector) {
    this.#connect = connect;
  }

  async request(url: URL, init: TransportRequest): Promise<Dispatcher.ResponseData> {
    const { origin } = url;
    if (this.#busy.has(origin)) {
      const several = (this.#several ??= this.#agent({}));
      return this.#sockets.send(origin, init.signal, () => send(several, url, init));
    }
    const single = (this.#single ??= this.#agent({ connections: 1 }));
    this.#busy.add(origin);
    try {
      const data = await this.#sockets.send(origin, init.signal, () => send(single, url, init));
      data.body.once('close', () => this.#busy.delete(origin));
      return data;
    } catch (error) {
      this.#busy.delete(origin);
      throw error;
    }
  }

  #agent(options: Agent.Options): Agent {
    const agent = new Agent({ ...AGENT_OPTIONS, connect: this.#connect, ...options });
    this.#sockets.watch(agent);
    return agent;
  }

  async destroy(): Promise<void> {
    await Promise.all([this.#single?.destroy(), this.#several?.destroy()]);
  }
}

/** Sends one request with undici. */
export function send(
  dispatcher: Dispatcher,
  url: URL,
  init: TransportRequest,
): Promise<Dispatcher.ResponseData> {
  let interim = 0;
  const options = {
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'GET',
    headers: init.headers,
    signal: init.signal,
    onInfo: () => {
      if (++interim > MAX_INTERIM) throw new FetchFailure(MALFORMED);
    },
    // An interceptor of the dispatcher must not follow redirects: each hop is checked and reported here.
    maxRedirections: 0,
    [OWN_REQUEST]: true,
  } as const;
  return dispatcher.request(options);
}
