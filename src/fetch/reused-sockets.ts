import { codeOf, type StopSignal } from '../base/index.ts';
import type { Dispatcher } from 'undici';

/** A connection that ended before it gave an answer. */
const LOST: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/**
 * Sends a request, and once more if it was lost on a socket that had served before: servers close idle connections
 * when they like, and a request on its way meets a closed door that says nothing about the site.
 *
 * RFC 9112 §9.3.1: "When an inbound connection is closed prematurely, a client MAY open a new connection and
 * automatically retransmit an aborted sequence of requests if all of those requests have idempotent methods." And: "A
 * client SHOULD NOT automatically retry a failed automatic retry."
 */
export async function sendOverSocket<Response>(
  send: () => Promise<Response>,
  wasReused: () => boolean,
  signal: StopSignal,
): Promise<Response> {
  try {
    return await send();
  } catch (error) {
    if (signal.aborted || !LOST.has(codeOf(error)) || !wasReused()) throw error;
    return send();
  }
}

interface Traffic {
  requests: number;
  connected: number;
  disconnected: number;
}

/**
 * Which requests went over a socket that was there before them, by what a dispatcher tells of its connections. One that
 * tells nothing, such as a proxy's, is never taken to reuse them.
 */
export class ReusedSockets {
  /** Of origins with requests under way. */
  readonly #traffic = new Map<string, Traffic>();
  readonly #dispatchers: Dispatcher[] = [];

  watch(dispatcher: Dispatcher): void {
    // Whatever can dispatch is taken for a dispatcher.
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

  async send<Response>(origin: string, signal: StopSignal, send: () => Promise<Response>): Promise<Response> {
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
