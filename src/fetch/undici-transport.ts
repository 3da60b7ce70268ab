import { abortSignalOf, DEFAULT_DEADLINE_MS } from '../base/index.ts';
import {
  type BuildConnector,
  type Connector,
  NameLookup,
  notingConnector,
  publicOnlyConnector,
  configuredGlobalDispatcher,
  isPublicHost,
  isWrapped,
  ProxyDispatcher,
  ReachedOrigins,
} from '../net/index.ts';
import { ADDRESS_UNKNOWN, FetchFailure, MALFORMED } from './failure.ts';
import { ReusedSockets } from './reused-sockets.ts';
import {
  OWN_REQUEST,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  type ResponseHeaders,
} from './transport.ts';
import type { LookupFunction } from 'node:net';
import { Agent, Dispatcher, errors } from 'undici';

/** An unwanted body up to this size is read to its end, so that its connection stays usable. */
const DRAIN_OCTETS = 16_384;

/** How long a body may take to drain. */
const DRAIN_MS = 1_000;

const PUBLIC = { isPublic: true } as const;
const UNKNOWN = {} as const;

/** What undici answers, as transports give it. */
function toResponse(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  known: Pick<TransportResponse, 'isPublic' | 'proxyMayAnswer'>,
): TransportResponse {
  // A body destroyed by its reader reports that as an error; without a listener it would end the process.
  body.on('error', ignore);
  return {
    status: statusCode,
    headers: new UndiciHeaders(headers),
    body,
    alreadyDecoded: false,
    discard: () => drain(body),
    ...known,
  };
}

function drain(body: Dispatcher.ResponseData['body']): void {
  let octets = 0;
  const timer = setTimeout(() => body.destroy(), DRAIN_MS);
  timer.unref();
  body.once('close', () => clearTimeout(timer));
  body.on('data', (chunk: Uint8Array) => {
    octets += chunk.byteLength;
    if (octets > DRAIN_OCTETS) body.destroy();
  });
}

/** Fields whose lines are read together: those with a list as their value, and one that must not be repeated. */
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
   * Sends every request, and stays open on `close()`. What follows then means nothing; of a `ProxyDispatcher`, only for
   * what it sends over a proxy.
   * @default the global dispatcher where somebody has set one, else agents of the transport's own
   */
  readonly dispatcher?: Dispatcher | undefined;
  /** Whether the address policy is `'public-only'`: names are then not sent over a dispatcher that the caller did not hand over. */
  readonly publicOnly?: boolean;
  /** Finds the addresses of names; those it gives are checked. @default that of `NameLookup` */
  readonly lookup?: LookupFunction | undefined;
  /** For connecting, TLS included: nobody waits for it any longer than this. @default 10_000 */
  readonly connectTimeoutMs?: number;
  /** Stands for undici's own, in tests. */
  readonly buildConnector?: BuildConnector;
}

const ACCEPT_ENCODING = 'gzip, deflate, br';
/** RFC 9110 §15.2: a client has to take interim answers; nothing says how many. Each may be as long as a header section. */
const MAX_INTERIM = 32;

/**
 * One small GET per origin: a connection is kept just long enough for a redirect within the same origin,
 * and no idle socket waits at ten thousand hosts. The attempt's deadline replaces undici's own timers.
 */
const AGENT_OPTIONS: Agent.Options = {
  keepAliveTimeout: 1_000,
  keepAliveMaxTimeout: 1_000,
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: 65_536,
};

/** undici's `request`, over agents of its own (made when first needed) or over a dispatcher. */
export function undiciTransport(options: UndiciTransportOptions = {}): Transport {
  const { dispatcher } = options;
  if (dispatcher === undefined) return new ChosenDispatcher(options, configuredGlobalDispatcher);
  if (!(dispatcher instanceof ProxyDispatcher)) return overDispatcher(dispatcher);
  return new ChosenDispatcher(options, (url) => (dispatcher.usesProxy(url) ? dispatcher : undefined));
}

/** Asks at every request whether it goes over a dispatcher; if not, it goes over agents of its own. */
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

/** The `request()` of our undici, for dispatchers that have none, or one that does not fit their `dispatch()`. */
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
      // Interceptors of the caller's may do with it what only a real one can.
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
 * Agents for requests that may go anywhere, and others for those that must go to public addresses: a socket that is
 * kept alive is used again without a look at where it leads, so no socket may serve both kinds. The price is a second
 * connection where a public site redirects within itself.
 */
class OwnAgents implements Transport {
  readonly acceptEncoding = ACCEPT_ENCODING;
  readonly #buildConnector: BuildConnector | undefined;
  readonly #ownLookup: NameLookup | undefined;
  readonly #lookup: LookupFunction;
  readonly #connectOptions: { readonly timeout: number };
  readonly #reached = new ReachedOrigins();
  #anywhere: AgentPair | undefined;
  #publicOnly: AgentPair | undefined;
  #closed = false;

  constructor({ lookup, buildConnector, connectTimeoutMs = DEFAULT_DEADLINE_MS }: UndiciTransportOptions) {
    // An aborted request leaves the connection it waited for to this timer.
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
      this.#publicOnly ??= new AgentPair(
        publicOnlyConnector(this.#connectOptions, this.#lookup, this.#buildConnector),
      );
      return toResponse(await this.#publicOnly.request(url, init), PUBLIC);
    }
    const { origin } = url;
    this.#anywhere ??= new AgentPair(
      notingConnector(this.#connectOptions, this.#lookup, this.#reached, this.#buildConnector),
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

/**
 * A client with a single connection per origin costs a fraction of a pool, but queues. Most origins are asked
 * once at a time; a host that many others redirect to is not, and one tarpit must not hold them all up: while
 * an origin has a request under way, further ones go through a second agent with as many connections as needed.
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

function send(dispatcher: Dispatcher, url: URL, init: TransportRequest): Promise<Dispatcher.ResponseData> {
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
    // An interceptor of the dispatcher must not follow redirects: each hop is checked, and told.
    maxRedirections: 0,
    [OWN_REQUEST]: true,
  } as const;
  return dispatcher.request(options);
}
