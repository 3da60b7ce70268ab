import {
  abortSignalOf,
  DEFAULT_DEADLINE_MS,
  invalid,
  quote,
  RobotsInvalidOptionsError,
  omitUndefined,
  ignore,
} from '../base/index.ts';
import {
  type BuildConnector,
  type Connector,
  NameLookup,
  recordingConnector,
  publicOnlyConnector,
  configuredGlobalDispatcher,
  isWrapped,
  ConnectedAddresses,
} from '../net/index.ts';
import { isPublicHost } from '../net/addresses.ts';
import { ACCEPT_ENCODING, decode } from './decode.ts';
import { ADDRESS_UNKNOWN, FetchFailure } from './failure.ts';
import { DirectConnections, type ResponseData } from './direct-connections.ts';
import { StaleSocketRetry } from './stale-socket-retry.ts';
import type { Transport, TransportRequest, TransportResponse, ResponseHeaders } from './transport.ts';
import type { LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import { Dispatcher, errors } from 'undici';
import type { Readable } from 'node:stream';

/** Chooses the dispatcher of a request for robots.txt, redirects included. */
export type DispatcherChoice = (url: URL) => Dispatcher | undefined;

export interface UndiciTransportOptions {
  /**
   * Sends every request, or chooses what sends a request: the transport's own connections where it returns `undefined`.
   * It stays open on `close()`. The options below have no effect on its requests.
   * @default the global dispatcher if one was set, else the transport's own connections
   */
  readonly dispatcher?: Dispatcher | DispatcherChoice | undefined;
  /**
   * Whether the address policy is `'public-only'`. Requests to names then go over the transport's own connections, or over
   * the one `dispatcher` that the caller gave for all.
   */
  readonly publicOnly?: boolean;
  /** Resolves names. Its results are checked. @default that of `NameLookup` */
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

/** More dispatchers than a crawler chooses from. */
const MAX_DISPATCHERS = 100;

/**
 * Has two sets of connections of its own: to any address, and to public addresses only. A kept-alive socket is reused
 * without another address check, so no socket may be in both. The cost is a second connection when a public site
 * redirects within itself.
 */
class UndiciTransport implements Transport {
  readonly acceptEncoding = ACCEPT_ENCODING;
  readonly #options: UndiciTransportOptions;
  readonly #ownLookup: NameLookup | undefined;
  readonly #lookup: LookupFunction;
  readonly #reached = new ConnectedAddresses();
  #anywhere: DirectConnections | undefined;
  #publicOnly: DirectConnections | undefined;
  /** Dispatchers of the caller or of the process. */
  readonly #dispatchers = new LRUCache<Dispatcher, KnownDispatcher>({
    max: MAX_DISPATCHERS,
    dispose: ({ sockets }) => sockets.unwatch(),
  });
  #isClosed = false;

  constructor(options: UndiciTransportOptions) {
    this.#options = options;
    this.#ownLookup = options.lookup === undefined ? new NameLookup() : undefined;
    this.#lookup = options.lookup ?? this.#ownLookup!.lookup;
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
    if (dispatcher !== undefined && typeof dispatcher !== 'function') return dispatcher;
    const chosen = dispatcher === undefined ? configuredGlobalDispatcher() : chosenBy(dispatcher, url);
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
    const { sockets, requester } = this.#knownDispatcher(dispatcher);
    // The caller's interceptors may need a real `AbortSignal`.
    const data = await sockets.send(requester, url, { ...init, signal: abortSignalOf(init.signal) });
    return toResponse(data, { mayBeFromProxy: url.protocol === 'http:' });
  }

  #knownDispatcher(dispatcher: Dispatcher): KnownDispatcher {
    const known = this.#dispatchers.get(dispatcher) ?? new KnownDispatcher(dispatcher);
    this.#dispatchers.set(dispatcher, known);
    return known;
  }

  async #sendToPublic(url: URL, init: TransportRequest): Promise<TransportResponse> {
    const { buildConnector } = this.#options;
    this.#publicOnly ??= new DirectConnections(
      publicOnlyConnector(this.#connectorOptions(false), this.#lookup, buildConnector),
      publicOnlyConnector(this.#connectorOptions(true), this.#lookup, buildConnector),
    );
    return toResponse(await this.#publicOnly.exchange(url, init), { isPublic: true });
  }

  async #sendAnywhere(url: URL, init: TransportRequest): Promise<TransportResponse> {
    this.#anywhere ??= new DirectConnections(this.#connectNoting(false), this.#connectNoting(true));
    this.#reached.begin(url.origin);
    try {
      const data = await this.#anywhere.exchange(url, init);
      const isPublic = this.#reached.isPublic(url.origin);
      return toResponse(data, omitUndefined({ isPublic }));
    } finally {
      this.#reached.end(url.origin);
    }
  }

  #connectNoting(allowH2: boolean): Connector {
    const options = this.#connectorOptions(allowH2);
    return recordingConnector(options, this.#lookup, this.#reached, this.#options.buildConnector);
  }

  /** When a request is aborted, the connection that it waited for ends by this timer. */
  #connectorOptions(allowH2: boolean): { readonly timeout: number; readonly allowH2: boolean } {
    return { timeout: this.#options.connectTimeoutMs ?? DEFAULT_DEADLINE_MS, allowH2 };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#ownLookup?.close();
    this.#dispatchers.clear();
    await Promise.all([this.#anywhere?.destroy(), this.#publicOnly?.destroy()]);
  }
}

/** A dispatcher of the caller or of the process, and what is known of its sockets. */
class KnownDispatcher {
  readonly requester: Dispatcher;
  readonly sockets = new StaleSocketRetry();

  constructor(dispatcher: Dispatcher) {
    const hasRequest = typeof dispatcher.request === 'function' && !isWrapped(dispatcher);
    this.requester = hasRequest ? dispatcher : new Requester(dispatcher);
    this.sockets.watch(dispatcher);
  }
}

function chosenBy(choose: DispatcherChoice, url: URL): Dispatcher | undefined {
  let chosen: Dispatcher | undefined;
  try {
    chosen = choose(new URL(url));
  } catch (cause) {
    throw new RobotsInvalidOptionsError(`\`dispatcher\` failed for ${quote(url.href)}`, { cause });
  }
  if (chosen === undefined || typeof Object(chosen).dispatch === 'function') return chosen;
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

/** A discarded body of up to this size is read to its end, so that its connection can be reused. */
const DRAIN_BYTES = 16_384;

/** The time that a discarded body may take to drain. */
const DRAIN_MS = 1_000;

/** The response of a transport, which adds what it knows of the connection. */
function toResponse(
  { statusCode, headers, body, hidesFields = false }: ResponseData,
  known: Pick<TransportResponse, 'isPublic' | 'mayBeFromProxy'>,
): TransportResponse {
  // A body destroyed by its reader emits an error. Without a listener it would end the process.
  body.on('error', ignore);
  return {
    status: statusCode,
    headers: headersOf(headers),
    body,
    decode,
    hidesFields,
    discard: () => drain(body),
    ...known,
  };
}

function drain(body: Readable): void {
  let bytes = 0;
  const timer = setTimeout(() => body.destroy(), DRAIN_MS);
  timer.unref();
  body.once('close', () => clearTimeout(timer));
  body.on('data', (chunk: Uint8Array) => {
    bytes += chunk.byteLength;
    if (bytes > DRAIN_BYTES) body.destroy();
  });
}

/** Fields whose repeated lines are joined: list fields, and one that must not be repeated. */
const JOINED: ReadonlySet<string> = new Set([
  'cache-control',
  'content-encoding',
  'transfer-encoding',
  'content-range',
  'proxy-status',
]);

function headersOf(fields: ResponseData['headers']): ResponseHeaders {
  return {
    get: (name) => {
      const value = fields[name];
      if (!Array.isArray(value)) return value;
      return JOINED.has(name) ? value.join(', ') : value[0];
    },
  };
}
