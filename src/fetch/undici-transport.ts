import { abortSignalOf, DEFAULT_DEADLINE_MS } from '../base/index.ts';
import {
  type BuildConnector,
  NameLookup,
  notingConnector,
  publicOnlyConnector,
  configuredGlobalDispatcher,
  isWrapped,
  ProxyDispatcher,
  ReachedOrigins,
} from '../net/index.ts';
import { isPublicHost } from '../net/address-policy.ts';
import { ACCEPT_ENCODING, decode } from './decode.ts';
import { ADDRESS_UNKNOWN, FetchFailure } from './failure.ts';
import { Connections, type ResponseData, send } from './connections.ts';
import { ReusedSockets } from './reused-sockets.ts';
import {
  type Transport,
  type TransportRequest,
  type TransportResponse,
  type ResponseHeaders,
} from './transport.ts';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { Dispatcher, errors } from 'undici';

/** A discarded body of up to this size is read to its end, so that its connection can be reused. */
const DRAIN_OCTETS = 16_384;

/** The time that a discarded body may take to drain. */
const DRAIN_MS = 1_000;

const PUBLIC = { isPublic: true } as const;
const UNKNOWN = {} as const;

/** Converts a response. */
function toResponse(
  { statusCode, headers, body, hidesFields = false }: ResponseData,
  known: Pick<TransportResponse, 'isPublic' | 'proxyMayAnswer'>,
): TransportResponse {
  // A body destroyed by its reader emits an error. Without a listener it would end the process.
  body.on('error', ignore);
  return {
    status: statusCode,
    headers: new UndiciHeaders(headers),
    body,
    decode,
    hidesFields,
    discard: () => drain(body),
    ...known,
  };
}

function drain(body: Readable): void {
  let octets = 0;
  const timer = setTimeout(() => body.destroy(), DRAIN_MS);
  timer.unref();
  body.once('close', () => clearTimeout(timer));
  body.on('data', (chunk: Uint8Array) => {
    octets += chunk.byteLength;
    if (octets > DRAIN_OCTETS) body.destroy();
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

class UndiciHeaders implements ResponseHeaders {
  readonly #fields: Dispatcher.ResponseData['headers'];

  constructor(fields: Dispatcher.ResponseData['headers']) {
    this.#fields = fields;
  }

  get(name: string): string | undefined {
    const value = this.#fields[name];
    if (!Array.isArray(value)) return value;
    return JOINED.has(name) ? value.join(', ') : value[0];
  }
}

function ignore(): void {}

export interface UndiciTransportOptions {
  /**
   * Sends every request, and stays open on `close()`. The options below then have no effect; with a
   * `ProxyDispatcher`, only on what it sends over a proxy.
   * @default the global dispatcher if somebody has set one, else agents of the transport's own
   */
  readonly dispatcher?: Dispatcher | undefined;
  /**
   * Whether the address policy is `'public-only'`. Requests to names then never go over a dispatcher that the caller
   * did not hand over.
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
 * Sends requests with undici's `request`, over a dispatcher or over agents of its own, which are made when first
 * needed.
 */
export function undiciTransport(options: UndiciTransportOptions = {}): Transport {
  const { dispatcher } = options;
  if (dispatcher === undefined) return new ChosenDispatcher(options, configuredGlobalDispatcher);
  if (!(dispatcher instanceof ProxyDispatcher)) return overDispatcher(dispatcher);
  return new ChosenDispatcher(options, (url) => (dispatcher.usesProxy(url) ? dispatcher : undefined));
}

/** Chooses for every request: the dispatcher if there is one for it, else agents of its own. */
class ChosenDispatcher implements Transport {
  readonly acceptEncoding = ACCEPT_ENCODING;
  readonly #choose: (url: URL) => Dispatcher | undefined;
  readonly #publicOnly: boolean;
  readonly #own: OwnAgents;
  #chosen: { readonly dispatcher: Dispatcher; readonly transport: Transport } | undefined;

  constructor(options: UndiciTransportOptions, choose: (url: URL) => Dispatcher | undefined) {
    this.#choose = choose;
    this.#publicOnly = options.publicOnly ?? false;
    this.#own = new OwnAgents(options);
  }

  async request(url: URL, init: TransportRequest): Promise<TransportResponse> {
    const dispatcher = this.#choose(url);
    if (dispatcher === undefined) return this.#own.request(url, init);
    if (this.#publicOnly && isPublicHost(url.hostname) !== true) throw new FetchFailure(ADDRESS_UNKNOWN);
    if (this.#chosen?.dispatcher !== dispatcher) {
      void this.#chosen?.transport.close?.();
      this.#chosen = { dispatcher, transport: overDispatcher(dispatcher) };
    }
    return this.#chosen.transport.request(url, init);
  }

  async close(): Promise<void> {
    await Promise.all([this.#own.close(), this.#chosen?.transport.close?.()]);
  }
}

/** The `request()` of our undici, for dispatchers without one, or with one that does not fit their `dispatch()`. */
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

function overDispatcher(dispatcher: Dispatcher): Transport {
  const sockets = new ReusedSockets();
  sockets.watch(dispatcher);
  const hasRequest = typeof dispatcher.request === 'function' && !isWrapped(dispatcher);
  const requester = hasRequest ? dispatcher : new Requester(dispatcher);
  return {
    acceptEncoding: ACCEPT_ENCODING,
    async request(url, init) {
      // The caller's interceptors may need a real `AbortSignal`.
      const real = { ...init, signal: abortSignalOf(init.signal) };
      const data = await sockets.send(url.origin, init.signal, () => send(requester, url, real));
      return toResponse(data, { proxyMayAnswer: url.protocol === 'http:' });
    },
    async close() {
      sockets.unwatch();
    },
  };
}

/**
 * Two sets of agents: one for requests to any address, one for requests to public addresses only. A kept-alive socket
 * is reused without another address check, so no socket may serve both. The cost is a second connection when a public
 * site redirects within itself.
 */
class OwnAgents implements Transport {
  readonly acceptEncoding = ACCEPT_ENCODING;
  readonly #buildConnector: BuildConnector | undefined;
  readonly #ownLookup: NameLookup | undefined;
  readonly #lookup: LookupFunction;
  readonly #connectOptions: { readonly timeout: number };
  readonly #reached = new ReachedOrigins();
  #anywhere: Connections | undefined;
  #publicOnly: Connections | undefined;
  #closed = false;

  constructor({ lookup, buildConnector, connectTimeoutMs = DEFAULT_DEADLINE_MS }: UndiciTransportOptions) {
    // When a request is aborted, the connection that it waited for ends by this timer.
    this.#connectOptions = { timeout: connectTimeoutMs };
    this.#buildConnector = buildConnector;
    if (lookup === undefined) {
      this.#ownLookup = new NameLookup();
      this.#lookup = this.#ownLookup.lookup;
    } else this.#lookup = lookup;
  }

  async request(url: URL, init: TransportRequest): Promise<TransportResponse> {
    if (this.#closed) throw new errors.ClientDestroyedError();
    if (init.publicOnly) {
      this.#publicOnly ??= new Connections((options) =>
        publicOnlyConnector({ ...this.#connectOptions, ...options }, this.#lookup, this.#buildConnector),
      );
      return toResponse(await this.#publicOnly.request(url, init), PUBLIC);
    }
    const { origin } = url;
    this.#anywhere ??= new Connections((options) =>
      notingConnector(
        { ...this.#connectOptions, ...options },
        this.#lookup,
        this.#reached,
        this.#buildConnector,
      ),
    );
    this.#reached.begin(origin);
    try {
      const data = await this.#anywhere.request(url, init);
      const isPublic = this.#reached.isPublic(origin);
      return toResponse(data, isPublic === undefined ? UNKNOWN : { isPublic });
    } finally {
      this.#reached.end(origin);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#ownLookup?.close();
    await Promise.all([this.#anywhere?.destroy(), this.#publicOnly?.destroy()]);
  }
}
