import { codeOf, type LightAbortSignal } from '../base/index.ts';
import { FetchFailure, MALFORMED } from './failure.ts';
import { OWN_REQUEST, type TransportRequest } from './transport.ts';
import type { Dispatcher } from 'undici';

/**
 * The most interim responses to one request. RFC 9110 §15.2 makes clients accept them and sets no limit, and each may
 * be as long as a header section.
 */
export const MAX_INTERIM = 32;

/** Codes of a connection that ended before a response arrived. */
const STALE_SOCKET: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/**
 * Whether a request that failed may be sent once more, if it went over a keep-alive socket: one that had served before
 * and was closed meanwhile. Servers close idle connections at any time, so this failure says nothing about the site.
 *
 * RFC 9112 §9.3.1: "When an inbound connection is closed prematurely, a client MAY open a new connection and
 * automatically retransmit an aborted sequence of requests if all of those requests have idempotent methods." And: "A
 * client SHOULD NOT automatically retry a failed automatic retry."
 */
export function isRetryable(error: unknown, signal: LightAbortSignal): boolean {
  return !signal.aborted && STALE_SOCKET.has(codeOf(error));
}

interface Traffic {
  requests: number;
  connected: number;
  disconnected: number;
}

type SocketEvent = 'connected' | 'disconnected';
type SocketListener = (event: SocketEvent, origin: URL) => void;

/**
 * Sends requests with undici, and once more those that met a stale socket. It learns from the connection events of a
 * dispatcher which requests reused a socket. A dispatcher without such events, such as a proxy's, counts as never
 * reusing one.
 */
export class StaleSocketRetry {
  /** Origins with requests in flight. */
  readonly #traffic = new Map<string, Traffic>();
  readonly #unwatch: (() => void)[] = [];

  watch(dispatcher: Dispatcher): void {
    // Any object with `dispatch` is accepted as a dispatcher, so it may have no events.
    if (typeof dispatcher.on === 'function') this.#unwatch.push(onSocketEvent(dispatcher, this.#count));
  }

  unwatch(): void {
    for (const unwatch of this.#unwatch.splice(0)) unwatch();
  }

  /** Sends one request over `dispatcher`, whose `request()` is that of this package's undici. */
  async send(
    dispatcher: Pick<Dispatcher, 'request'>,
    url: URL,
    init: TransportRequest,
  ): Promise<Dispatcher.ResponseData> {
    const { origin } = url;
    let traffic = this.#traffic.get(origin);
    if (traffic === undefined) {
      traffic = { requests: 0, connected: 0, disconnected: 0 };
      this.#traffic.set(origin, traffic);
    }
    const { connected, disconnected } = traffic;
    traffic.requests++;
    try {
      return await dispatcher.request(requestOptions(url, init));
    } catch (error) {
      const wasReused = traffic.connected === connected && traffic.disconnected > disconnected;
      if (!wasReused || !isRetryable(error, init.signal)) throw error;
      return await dispatcher.request(requestOptions(url, init));
    } finally {
      if (--traffic.requests === 0) this.#traffic.delete(origin);
    }
  }

  readonly #count = (event: SocketEvent, { origin }: URL): void => {
    const traffic = this.#traffic.get(origin);
    if (traffic !== undefined) traffic[event]++;
  };
}

const watched = new WeakMap<
  Dispatcher,
  { readonly listeners: Set<SocketListener>; readonly end: () => void }
>();

/**
 * Calls `listener` when a socket of `dispatcher` opens or closes, until the returned function is called. All callers
 * share two listeners of a dispatcher: Node warns above ten of an event, and many clients may use one dispatcher.
 */
function onSocketEvent(dispatcher: Dispatcher, listener: SocketListener): () => void {
  let known = watched.get(dispatcher);
  if (known === undefined) {
    const listeners = new Set<SocketListener>();
    const connected = (origin: URL): void => listeners.forEach((each) => each('connected', origin));
    const disconnected = (origin: URL): void => listeners.forEach((each) => each('disconnected', origin));
    dispatcher.on('connect', connected);
    dispatcher.on('disconnect', disconnected);
    const end = (): void => {
      watched.delete(dispatcher);
      dispatcher.off('connect', connected);
      dispatcher.off('disconnect', disconnected);
    };
    known = { listeners, end };
    watched.set(dispatcher, known);
  }
  const { listeners, end } = known;
  listeners.add(listener);
  return () => {
    if (listeners.delete(listener) && listeners.size === 0) end();
  };
}

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
