import { codeOf, type LightAbortSignal } from '../base/index.ts';
import type { Dispatcher } from 'undici';

/** Codes of a connection that ended before a response arrived. */
const STALE_SOCKET: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/**
 * Sends a request, and retries once on a stale keep-alive socket: one that had served before and was closed
 * meanwhile. Servers close idle connections at any time, so this failure says nothing about the site.
 *
 * RFC 9112 §9.3.1: "When an inbound connection is closed prematurely, a client MAY open a new connection and
 * automatically retransmit an aborted sequence of requests if all of those requests have idempotent methods." And: "A
 * client SHOULD NOT automatically retry a failed automatic retry."
 */
export async function sendOverSocket<Response>(
  send: () => Promise<Response>,
  wasReused: () => boolean,
  signal: LightAbortSignal,
): Promise<Response> {
  try {
    return await send();
  } catch (error) {
    if (signal.aborted || !STALE_SOCKET.has(codeOf(error)) || !wasReused()) throw error;
    return send();
  }
}

interface Traffic {
  requests: number;
  connected: number;
  disconnected: number;
}

/**
 * Tells which requests reused a socket, from the connection events of a dispatcher. A dispatcher without such events,
 * such as a proxy's, counts as never reusing one.
 */
export class ReusedSockets {
  /** Origins with requests in flight. */
  readonly #traffic = new Map<string, Traffic>();
  readonly #dispatchers: Dispatcher[] = [];

  watch(dispatcher: Dispatcher): void {
    // Any object with `dispatch` is accepted as a dispatcher, so it may have no events.
    if (typeof dispatcher.on !== 'function') return;
    this.#dispatchers.push(dispatcher);
    dispatcher.on('connect', this.#connected);
    dispatcher.on('disconnect', this.#disconnected);
  }

  unwatch(): void {
    for (const dispatcher of this.#dispatchers.splice(0)) {
      dispatcher.off('connect', this.#connected);
      dispatcher.off('disconnect', this.#disconnected);
    }
  }

  async send<Response>(
    origin: string,
    signal: LightAbortSignal,
    send: () => Promise<Response>,
  ): Promise<Response> {
    let traffic = this.#traffic.get(origin);
    if (traffic === undefined) {
      traffic = { requests: 0, connected: 0, disconnected: 0 };
      this.#traffic.set(origin, traffic);
    }
    const { connected, disconnected } = traffic;
    const current = traffic;
    traffic.requests++;
    try {
      return await sendOverSocket(
        send,
        () => current.connected === connected && current.disconnected > disconnected,
        signal,
      );
    } finally {
      if (--traffic.requests === 0) this.#traffic.delete(origin);
    }
  }

  readonly #connected = (origin: URL): void => {
    const traffic = this.#traffic.get(origin.origin);
    if (traffic !== undefined) traffic.connected++;
  };

  readonly #disconnected = (origin: URL): void => {
    const traffic = this.#traffic.get(origin.origin);
    if (traffic !== undefined) traffic.disconnected++;
  };
}
