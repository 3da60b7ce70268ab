import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BrokenPipeError } from '../report/text/index.ts';
import type { Service } from './service.ts';

/** One request and its answer. What few requests need (query, signal) is made when it is asked for. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly service: Service;
  /** Without the query. */
  readonly path: string;
  /** What stands behind the `?`, as it came. */
  readonly search: string;
  private parsed: URLSearchParams | undefined;
  private gone: AbortController | undefined;
  private left = false;

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
    return (this.parsed ??= new URLSearchParams(this.search));
  }

  /** Aborted when whoever asked has gone, or has the whole answer. */
  get signal(): AbortSignal {
    if (this.gone === undefined) {
      this.gone = new AbortController();
      // Many questions of one stream listen to it.
      setMaxListeners(0, this.gone.signal);
      if (this.left) this.gone.abort(new BrokenPipeError());
    }
    return this.gone.signal;
  }

  get isOver(): boolean {
    return this.left;
  }

  /** The connection has closed, or the answer is sent. */
  leave(): void {
    this.left = true;
    this.gone?.abort(new BrokenPipeError());
  }

  /** The connection is not kept for another request. */
  endAfterwards(): void {
    const { request, response } = this;
    if (!response.headersSent) response.setHeader('connection', 'close');
    // A finished response has let go of its socket.
    const { socket } = request;
    response.once('finish', () => socket.destroySoon());
  }
}
