import {
  abortSignalOf,
  DEFAULT_DEADLINE_MS,
  invalid,
  quote,
  RobotsInvalidOptionsError,
  omitUndefined,
  codeOf,
} from '../base/index.ts';
import {
  type BuildConnector,
  checkedLookup,
  recordingConnector,
  publicOnlyConnector,
  ConnectedAddresses,
  type Connector,
} from '../net/connectors.ts';
import { configuredGlobalDispatcher, isDispatcher, isWrapped } from '../net/global-dispatcher.ts';
import { isPublicHost } from '../net/addresses.ts';
import { ACCEPT_ENCODING } from './decode.ts';
import { ADDRESS_UNKNOWN, FetchFailure, HTTP2_ONLY, MALFORMED } from './failure.ts';
import { nodeHeaders, nodeResponse } from './node-transport.ts';
import {
  type DispatcherLike,
  sendOnceMore,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  OWN_REQUEST,
} from './transport.ts';
import { lookup as dnsLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Dispatcher, errors, Agent } from 'undici';

/** Chooses the dispatcher of a request for robots.txt, redirects included. */
export type DispatcherChoice = (url: URL) => DispatcherLike | undefined;

export interface UndiciTransportOptions {
  /**
   * Sends every request, or chooses what sends a request: the transport's own connections where it returns `undefined`.
   * It stays open on `close()`. The options below have no effect on its requests.
   * @default the global dispatcher if one was set, else the transport's own connections
   */
  readonly dispatcher?: DispatcherLike | DispatcherChoice | undefined;
  /**
   * Whether the address policy is `'public-only'`. Requests to names then go over the transport's own connections, or over
   * the one `dispatcher` that the caller gave for all.
   */
  readonly publicOnly?: boolean;
  /** Resolves names. Its results are checked. @default `dns.lookup` */
  readonly lookup?: LookupFunction | undefined;
  /** Milliseconds for connecting, TLS included. @default 10_000 */
  readonly connectTimeoutMs?: number;
  /** Replaces undici's own in tests. */
  readonly buildConnector?: BuildConnector;
}

/**
 * Sends requests with undici's `request`, over a dispatcher if there is one for the URL, else over connections of its
 * own, which are made when first needed.
 */
export function undiciTransport(options: UndiciTransportOptions = {}): Transport {
  return new UndiciTransport(options);
}

/**
 * Has an agent for any address, and one for public addresses only. A kept-alive socket is reused without another address
 * check, so no socket may be in both. The cost is a second connection when a public site redirects within itself.
 */
class UndiciTransport implements Transport {
  readonly acceptEncoding = ACCEPT_ENCODING;
  readonly #options: UndiciTransportOptions;
  readonly #lookup: LookupFunction;
  readonly #connected = new ConnectedAddresses();
  #anywhere: OwnConnections | undefined;
  #publicOnly: OwnConnections | undefined;
  #isClosed = false;

  constructor(options: UndiciTransportOptions) {
    this.#options = options;
    this.#lookup = options.lookup === undefined ? dnsLookup : checkedLookup(options.lookup);
  }

  async request(url: URL, init: TransportRequest): Promise<TransportResponse> {
    const dispatcher = this.#dispatcherFor(url);
    if (dispatcher !== undefined) return this.#overDispatcher(dispatcher, url, init);
    if (this.#isClosed) throw new errors.ClientDestroyedError();
    return init.publicOnly ? this.#sendToPublic(url, init) : this.#sendAnywhere(url, init);
  }

  /** The dispatcher that a request goes over; `undefined`: our own connections. */
  #dispatcherFor(url: URL): Dispatcher | undefined {
    const { dispatcher, publicOnly = false } = this.#options;
    if (isDispatcher(dispatcher)) return dispatcher;
    const chosen =
      typeof dispatcher === 'function' ? chosenBy(dispatcher, url) : configuredGlobalDispatcher();
    if (chosen !== undefined && publicOnly && isPublicHost(url.hostname) !== true) {
      throw new FetchFailure(ADDRESS_UNKNOWN);
    }
    return chosen;
  }

  async #overDispatcher(
    dispatcher: Dispatcher,
    url: URL,
    init: TransportRequest,
  ): Promise<TransportResponse> {
    const hasRequest = typeof dispatcher.request === 'function' && !isWrapped(dispatcher);
    const requester = hasRequest ? dispatcher : new Requester(dispatcher);
    // The caller's interceptors may need a real `AbortSignal`.
    const signal = abortSignalOf(init.signal);
    // Pages keep its connections open, which a site may have closed.
    const data = await sendOnceMore(() => send(requester, url, { ...init, signal }), init.signal);
    return toResponse(data, { mayBeFromProxy: url.protocol === 'http:' });
  }

  async #sendToPublic(url: URL, init: TransportRequest): Promise<TransportResponse> {
    this.#publicOnly ??= new OwnConnections(
      publicOnlyConnector(this.#connectorOptions(), this.#lookup, this.#options.buildConnector),
    );
    return toResponse(await this.#publicOnly.send(url, init), { isPublic: true });
  }

  async #sendAnywhere(url: URL, init: TransportRequest): Promise<TransportResponse> {
    this.#anywhere ??= new OwnConnections(
      recordingConnector(
        this.#connectorOptions(),
        this.#lookup,
        this.#connected,
        this.#options.buildConnector,
      ),
    );
    this.#connected.begin(url.origin);
    try {
      const data = await this.#anywhere.send(url, init);
      const isPublic = this.#connected.isPublic(url.origin);
      return toResponse(data, omitUndefined({ isPublic }));
    } finally {
      this.#connected.end(url.origin);
    }
  }

  /** When a request is aborted, the connection that it waited for ends by this timer. */
  #connectorOptions(): { readonly timeout: number } {
    return { timeout: this.#options.connectTimeoutMs ?? DEFAULT_DEADLINE_MS };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#anywhere?.destroy(), this.#publicOnly?.destroy()]);
  }
}

function chosenBy(choose: DispatcherChoice, url: URL): Dispatcher | undefined {
  let chosen: DispatcherLike | undefined;
  try {
    chosen = choose(new URL(url));
  } catch (cause) {
    throw new RobotsInvalidOptionsError(`\`dispatcher\` failed for ${quote(url.href)}`, { cause });
  }
  if (chosen === undefined || isDispatcher(chosen)) return chosen;
  throw invalid(`\`dispatcher(${quote(url.href)})\``, 'an undici Dispatcher or undefined', chosen);
}

/** The `request()` of this package's undici, for dispatchers without one, or whose own does not fit their `dispatch()`. */
class Requester extends Dispatcher {
  readonly #dispatcher: Dispatcher;

  constructor(dispatcher: Dispatcher) {
    super();
    this.#dispatcher = dispatcher;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.#dispatcher.dispatch(options, handler);
  }
}

/** The response of a transport, which adds what it knows of the connection. */
function toResponse(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  known: Pick<TransportResponse, 'isPublic' | 'mayBeFromProxy'>,
): TransportResponse {
  return nodeResponse(statusCode, nodeHeaders(headers), body, known);
}

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
