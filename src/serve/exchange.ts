import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BrokenPipeError } from '../report/text/index.ts';
import type { Service } from './service.ts';

/** One request and its response. Query and signal are created on first use, because few requests need them. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly service: Service;
  /** Path of the request, without the query. */
  readonly path: string;
  /** The query without its `?`, as received. */
  readonly search: string;
  /** Whether the whole response was given to the connection. */
  isReplied = false;
  #parsed: URLSearchParams | undefined;
  #gone: AbortController | undefined;
  #left = false;

  constructor(request: IncomingMessage, response: ServerResponse, service: Service) {
    const { url = '' } = request;
    const start = url.indexOf('?');
    this.request = request;
    this.response = response;
    this.service = service;
    this.path = start < 0 ? url : url.slice(0, start);
    this.search = start < 0 ? '' : url.slice(start + 1);
  }

  get query(): URLSearchParams {
    return (this.#parsed ??= new URLSearchParams(this.search));
  }

  /** Aborts when the requester has disconnected, or has received the whole response. */
  get signal(): AbortSignal {
    if (this.#gone === undefined) {
      this.#gone = new AbortController();
      // Every pending question of a stream listens to it.
      setMaxListeners(0, this.#gone.signal);
      if (this.#left) this.#gone.abort(new BrokenPipeError());
    }
    return this.#gone.signal;
  }

  get isOver(): boolean {
    return this.#left;
  }

  /** Ends the exchange: the connection has closed, or the response is sent. */
  leave(): void {
    this.#left = true;
    this.#gone?.abort(new BrokenPipeError());
  }

  /** Closes the connection after this response, without another request. */
  endAfterwards(): void {
    const { request, response } = this;
    if (!response.headersSent) response.setHeader('connection', 'close');
    // A finished response no longer refers to its socket.
    const { socket } = request;
    response.once('finish', () => socket.destroySoon());
  }
}
