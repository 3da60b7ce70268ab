import { builtin } from '../../core/base/index.ts';
import { watchNodeStream } from './response-body.ts';
import type { ResponseFields } from './response-fields.ts';

/** A request that holds a permit, as the HTTP stack below its library sees it. */
interface WatchedRequest {
  readonly url: string | URL;
  readonly decision: { readonly url: string } | undefined;
  onWireStart(): void;
  onWireHeaders(status: number, headers: ResponseFields): void;
  onBodyRead(): void;
  finish(): void;
}

/** Watches a started request until it ends. Returns a function that ends the watch before. */
export type RequestWatch = (request: WatchedRequest) => () => void;

/** A request of Node or undici in the messages of their channels. */
interface WireRequest {
  readonly path: string;
}

interface ClientRequest extends WireRequest {
  readonly protocol: string;
  getHeader(name: string): unknown;
  once(event: 'close', listener: () => void): unknown;
}

interface UndiciRequest extends WireRequest {
  readonly origin: string | URL;
}

/** Beyond it the oldest URL is forgotten: some requests are never sent, for example when an interceptor refuses them. */
const MAX_EXPECTED_URLS = 10_000;

/**
 * Finds the requests of guards on the diagnostics channels of an HTTP stack. A message has only the URL of a request, so
 * requests for one URL are taken to be sent in the order in which they were started.
 */
class WireRequests {
  readonly #expected = new Map<string, WatchedRequest[]>();
  readonly #sent = new WeakMap<object, WatchedRequest>();

  expect(request: WatchedRequest): () => void {
    const key = keyOf(request);
    const waiting = this.#expected.get(key);
    if (waiting !== undefined) waiting.push(request);
    else {
      if (this.#expected.size >= MAX_EXPECTED_URLS)
        this.#expected.delete(this.#expected.keys().next().value ?? '');
      this.#expected.set(key, [request]);
    }
    return () => this.#forget(key, request);
  }

  /** A request was sent. Returns the guard's request for the same URL. */
  sent(wire: WireRequest, origin: string): WatchedRequest | undefined {
    if (this.#expected.size === 0) return undefined;
    // A proxy is sent the whole URL.
    const key = wire.path.startsWith('/') ? origin + wire.path : wire.path;
    const request = this.#expected.get(key)?.[0];
    if (request === undefined) return undefined;
    this.#forget(key, request);
    this.#sent.set(wire, request);
    request.onWireStart();
    return request;
  }

  of(wire: object): WatchedRequest | undefined {
    return this.#sent.get(wire);
  }

  #forget(key: string, request: WatchedRequest): void {
    const waiting = this.#expected.get(key);
    const at = waiting?.indexOf(request) ?? -1;
    if (waiting === undefined || at < 0) return;
    waiting.splice(at, 1);
    if (waiting.length === 0) this.#expected.delete(key);
  }
}

/** Origin, path and query, as an HTTP stack has them. The URL of a decision needs no parsing. */
function keyOf({ url, decision }: WatchedRequest): string {
  const href = decision?.url ?? String(url);
  if (decision !== undefined && !href.includes('@')) {
    const hash = href.indexOf('#');
    return hash < 0 ? href : href.slice(0, hash);
  }
  const { origin, pathname, search } = new URL(href);
  return origin + pathname + search;
}

/** Watches requests over `node:http`: got and axios show neither the header of a response nor the end of an attempt. */
export const watchNodeRequest: RequestWatch = (request) => nodeRequests().expect(request);

/** Watches requests over undici, Node's `fetch` included: an unread response shows no end. */
export const watchUndiciRequest: RequestWatch = (request) => undiciRequests().expect(request);

// One subscription for all guards of the process, from the first request on that holds a permit.
const nodeRequests = once(() => {
  const requests = new WireRequests();
  const channels = builtin('node:diagnostics_channel');
  channels?.subscribe('http.client.request.start', (message) => {
    const { request } = message as { readonly request: ClientRequest };
    const watched = requests.sent(request, nodeOriginOf(request));
    // Published after the end of the response, and after each failure.
    if (watched !== undefined) request.once('close', () => watched.finish());
  });
  channels?.subscribe('http.client.response.finish', (message) => {
    const { request, response } = message as {
      readonly request: ClientRequest;
      readonly response: Parameters<typeof watchNodeStream>[0] & {
        readonly statusCode: number;
        readonly headers: ResponseFields;
      };
    };
    const watched = requests.of(request);
    if (watched === undefined) return;
    watched.onWireHeaders(response.statusCode, response.headers);
    watchNodeStream(response, watched);
  });
  return requests;
});

const undiciRequests = once(() => {
  const requests = new WireRequests();
  const channels = builtin('node:diagnostics_channel');
  const finish = (message: unknown): void =>
    requests.of((message as { readonly request: UndiciRequest }).request)?.finish();
  channels?.subscribe('undici:request:create', (message) => {
    const { request } = message as { readonly request: UndiciRequest };
    requests.sent(request, String(request.origin));
  });
  channels?.subscribe('undici:request:headers', (message) => {
    const { request, response } = message as {
      readonly request: UndiciRequest;
      readonly response: { readonly statusCode: number; readonly headers: readonly unknown[] };
    };
    const { statusCode, headers } = response;
    requests.of(request)?.onWireHeaders(statusCode, statusCode >= 400 ? fieldsOf(headers) : {});
  });
  // Published when the body has ended, with trailers or without.
  channels?.subscribe('undici:request:trailers', finish);
  channels?.subscribe('undici:request:error', finish);
  return requests;
});

/** The fields in undici's list of names and values, which are Buffers. */
function fieldsOf(list: readonly unknown[]): ResponseFields {
  const fields: Record<string, string[]> = Object.create(null);
  for (let at = 0; at + 1 < list.length; at += 2)
    (fields[String(list[at]).toLowerCase()] ??= []).push(String(list[at + 1]));
  return fields;
}

function nodeOriginOf(request: ClientRequest): string {
  const host = String(request.getHeader('host'));
  return `${request.protocol}//${host}`;
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
