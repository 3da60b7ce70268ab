import { Agent, type Dispatcher } from 'undici';
import { codeOf } from '../base/index.ts';
import type { Connector } from '../net/index.ts';
import { FetchFailure, HTTP2_ONLY, MALFORMED } from './failure.ts';
import { OWN_REQUEST, type TransportRequest } from './transport.ts';

/** Bound of a header section. */
const MAX_HEADER_BYTES = 65_536;

/**
 * One small GET per origin: a connection is kept just long enough for a redirect within the origin, so that no idle
 * sockets stay open to ten thousand hosts. The attempt's deadline replaces undici's own timers.
 */
const AGENT_OPTIONS: Agent.Options = {
  keepAliveTimeout: 1_000,
  keepAliveMaxTimeout: 1_000,
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: MAX_HEADER_BYTES,
};

/**
 * A client with one connection an origin costs half of a pool, but lets one slow response delay the others. Most origins get
 * one request at a time. One that many others redirect to gets its further ones by an agent with pools.
 */
export class OwnConnections {
  readonly #single: Agent;
  readonly #pools: Agent;
  /** Origins with a request in flight. */
  readonly #busy = new Set<string>();

  constructor(connect: Connector) {
    this.#single = new Agent({ ...AGENT_OPTIONS, connect, connections: 1 });
    this.#pools = new Agent({ ...AGENT_OPTIONS, connect });
  }

  async send(url: URL, init: TransportRequest): Promise<Dispatcher.ResponseData> {
    const { origin } = url;
    if (this.#busy.has(origin)) return send(this.#pools, url, init);
    this.#busy.add(origin);
    const free = (): boolean => this.#busy.delete(origin);
    try {
      const data = await send(this.#single, url, init);
      data.body.once('close', free);
      return data;
    } catch (error) {
      free();
      throw error;
    }
  }

  async destroy(): Promise<void> {
    await Promise.all([this.#single.destroy(), this.#pools.destroy()]);
  }
}

/** The alert of a server that speaks none of the protocols that the TLS handshake offered. */
const NO_APPLICATION_PROTOCOL = 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL';

/** Sends one request, and resolves when the header section of the response has arrived. */
export async function send(
  dispatcher: Pick<Dispatcher, 'request'>,
  url: URL,
  init: TransportRequest,
): Promise<Dispatcher.ResponseData> {
  try {
    return await dispatcher.request(requestOptions(url, init));
  } catch (cause) {
    if (codeOf(cause) === NO_APPLICATION_PROTOCOL) throw new FetchFailure(HTTP2_ONLY, { cause });
    throw cause;
  }
}

/**
 * The most interim responses to one request. RFC 9110 §15.2 makes clients accept them and sets no limit, and each may
 * be as long as a header section.
 */
const MAX_INTERIM = 32;

function requestOptions(url: URL, { headers, signal }: TransportRequest): Dispatcher.RequestOptions {
  let interim = 0;
  const options = {
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'GET',
    headers,
    signal,
    onInfo: () => {
      if (++interim > MAX_INTERIM) throw new FetchFailure(MALFORMED);
    },
    // An interceptor of the dispatcher must not follow redirects: each one is checked and reported here.
    maxRedirections: 0,
    // undici's interceptor `dump` drops bodies, as if files were empty. It throws for this value, so that no rule is lost.
    dumpMaxSize: 0,
    [OWN_REQUEST]: true,
  } as const;
  return options;
}
