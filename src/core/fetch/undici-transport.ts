import {
  abortSignalOf,
  DEFAULT_DEADLINE_MS,
  invalid,
  quote,
  RobotsInvalidOptionsError,
  omitUndefined,
} from '../base/index.ts';
import {
  type BuildConnector,
  checkedLookup,
  recordingConnector,
  publicOnlyConnector,
  configuredGlobalDispatcher,
  isDispatcher,
  isWrapped,
  ConnectedAddresses,
} from '../net/index.ts';
import { isPublicHost } from '../net/addresses.ts';
import { ACCEPT_ENCODING } from './decode.ts';
import { ADDRESS_UNKNOWN, FetchFailure } from './failure.ts';
import { nodeHeaders, nodeResponse } from './node-transport.ts';
import { OwnConnections, send } from './own-connections.ts';
import {
  type DispatcherLike,
  sendOnceMore,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from './transport.ts';
import { lookup as dnsLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Dispatcher, errors } from 'undici';

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
