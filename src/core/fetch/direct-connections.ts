import { codeOf, LightAbortController } from '../base/index.ts';
import type { Connector } from '../net/index.ts';
import { NO_APPLICATION_PROTOCOL, requestOverHttp2 } from './http2-request.ts';
import { MAX_INTERIM, StaleSocketRetry } from './stale-socket-retry.ts';
import { correctingResponseHeads } from './response-heads.ts';
import type { TransportRequest } from './transport.ts';
import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, errors } from 'undici';

/** A response of undici, or over HTTP/2. */
export type ResponseData = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'> & {
  readonly body: Readable;
  readonly hidesFields?: boolean;
};

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
 * HTTP/1.1, and HTTP/2 for sites that speak nothing else: they end a TLS handshake that does not offer HTTP/2, and get a
 * second one. Other sites need only one handshake.
 *
 * A client with one connection per origin is much cheaper than a pool, but it queues requests. Most origins get one request
 * at a time. A host that many others redirect to gets several, and one slow response must not delay the others: while an
 * origin has a request in flight, further requests go through a second agent with as many connections as needed.
 */
export class DirectConnections {
  readonly #connect: Connector;
  readonly #connectHttp2: Connector;
  readonly #sockets = new StaleSocketRetry();
  /** Origins with a request in flight. */
  readonly #busy = new Set<string>();
  readonly #closing = new LightAbortController();
  #single: Agent | undefined;
  #several: Agent | undefined;

  /** @param connectHttp2 Offers `h2` in the TLS handshake, which `connect` does not. */
  constructor(connect: Connector, connectHttp2: Connector) {
    this.#connect = correctingResponseHeads(connect);
    this.#connectHttp2 = connectHttp2;
  }

  /** Sends one request, and resolves when the header section of the response has arrived. */
  async exchange(url: URL, init: TransportRequest): Promise<ResponseData> {
    try {
      return await this.#sendOverHttp1(url, init);
    } catch (error) {
      if (codeOf(error) !== NO_APPLICATION_PROTOCOL || init.signal.aborted || this.#closing.aborted)
        throw error;
    }
    return this.#overHttp2(url, init);
  }

  async #sendOverHttp1(url: URL, init: TransportRequest): Promise<ResponseData> {
    const { origin } = url;
    if (this.#busy.has(origin)) return this.#sockets.send((this.#several ??= this.#makeAgent({})), url, init);
    this.#busy.add(origin);
    try {
      const data = await this.#sockets.send(
        (this.#single ??= this.#makeAgent({ connections: 1 })),
        url,
        init,
      );
      data.body.once('close', () => this.#busy.delete(origin));
      return data;
    } catch (error) {
      this.#busy.delete(origin);
      throw error;
    }
  }

  #makeAgent(options: Agent.Options): Agent {
    const agent = new Agent({ ...AGENT_OPTIONS, connect: this.#connect, ...options });
    this.#sockets.watch(agent);
    return agent;
  }

  async #overHttp2(url: URL, { headers, signal }: TransportRequest): Promise<ResponseData> {
    const controller = new LightAbortController();
    const abort = (): void => controller.abort(signal.reason);
    const close = (): void => controller.abort(this.#closing.reason);
    signal.addEventListener('abort', abort, { once: true });
    this.#closing.addEventListener('abort', close);
    const release = (): void => {
      signal.removeEventListener('abort', abort);
      this.#closing.removeEventListener('abort', close);
    };
    try {
      const response = await requestOverHttp2({
        connect: this.#connectHttp2,
        url,
        // Node's HTTP/2 drops malformed fields, so Content-Encoding is unreliable: ask for no coding.
        headers: { ...headers, 'accept-encoding': 'identity' },
        signal: controller,
        maxInterim: MAX_INTERIM,
        maxHeaderBytes: MAX_HEADER_BYTES,
      });
      response.body.once('close', release);
      const { status, headers: fields, body } = response;
      return { statusCode: status, headers: fields, body, hidesFields: true };
    } catch (error) {
      release();
      throw error;
    }
  }

  async destroy(): Promise<void> {
    this.#closing.abort(new errors.ClientDestroyedError());
    await Promise.all([this.#single?.destroy(), this.#several?.destroy()]);
  }
}
