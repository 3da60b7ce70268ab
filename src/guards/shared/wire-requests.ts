import { builtin } from '../../core/base/index.ts';
import { type NodeStream, watchNodeStream } from './response-body.ts';
import type { ResponseFields } from './headers.ts';

/** A request that holds a permit, as the HTTP stack below its library sees it. */
export interface WatchedRequest {
  readonly url: string | URL;
  readonly decision: { readonly url: string } | undefined;
  /** Whether its permit has ended although the request has not. */
  readonly hasExpired: boolean;
  onWireStart(): void;
  onWireSent(): void;
  onWireHeaders(status: number, headers: ResponseFields): void;
  onBodyRead(): void;
  /** The body has ended, or the request has failed. The library may show the header later. */
  onWireEnd(): void;
  finish(): void;
}

/** Where the requests of a library are seen. */
export interface RequestWatch {
  /** Whether the library may drop a request after its start without a word: its permit then lasts 30 s until it is sent. */
  readonly mayBeDropped: boolean;
  /** Watches a started request until it ends. */
  expect(request: WatchedRequest): Expected;
  /** Ends the watch of a request that was not sent. */
  forget(expected: Expected): void;
}

/** A request of Node or undici in the messages of their channels. */
interface WireRequest {
  readonly path: string;
  [WATCHED]?: WatchedRequest;
}

/** On a request of an HTTP stack: that of the guard. A weak map would cost each request more than the rest of the watch. */
const WATCHED: unique symbol = Symbol('canfetch.watched');

/** A request of `node:http`, or of a library with the same events. */
interface ClientRequest {
  once(event: 'close', listener: () => void): unknown;
  once(event: 'response', listener: (response: ClientResponse) => void): unknown;
}

interface ClientResponse extends NodeStream {
  readonly statusCode: number;
  readonly headers: ResponseFields;
}

interface NodeRequest extends WireRequest, ClientRequest {
  readonly protocol: string;
  readonly socket: WireSocket | null;
  getHeader(name: string): unknown;
  once(event: 'close', listener: () => void): unknown;
  once(event: 'response', listener: (response: ClientResponse) => void): unknown;
  once(event: 'socket', listener: (socket: WireSocket) => void): unknown;
}

interface WireSocket {
  readonly connecting: boolean;
  readonly encrypted?: boolean;
  readonly secureConnecting?: boolean;
  once(event: 'connect' | 'secureConnect', listener: () => void): unknown;
}

interface UndiciRequest extends WireRequest {
  readonly origin: string | URL;
}

/** A request that was not sent yet, and an older one for the same URL. */
export interface Expected {
  readonly key: string;
  readonly request: WatchedRequest;
  older: Expected | undefined;
}

/** Beyond it, the oldest URLs are forgotten whose requests have lost their permits: the library has dropped them. */
const MAX_DROPPED_URLS = 100;

/**
 * Finds the requests of guards on the diagnostics channels of an HTTP stack. A message has only the URL of a request, so
 * of two for one URL the newer one is taken to be sent: the older one may have been dropped.
 */
export class WireRequests {
  readonly #expected = new Map<string, Expected>();

  expect(request: WatchedRequest): Expected {
    const key = keyOf(request);
    let older = this.#expected.get(key);
    while (older?.request.hasExpired === true) older = older.older;
    if (this.#expected.size >= MAX_DROPPED_URLS) this.#forgetDropped();
    const expected = { key, request, older };
    this.#expected.set(key, expected);
    return expected;
  }

  /** A request was sent. Returns the guard's request for the same URL. */
  sent(wire: WireRequest, origin: string): WatchedRequest | undefined {
    if (this.#expected.size === 0) return undefined;
    // A proxy is sent the whole URL.
    const key = wire.path.startsWith('/') ? origin + wire.path : wire.path;
    const expected = this.#expected.get(key);
    if (expected === undefined) return undefined;
    const { request } = expected;
    this.forget(expected);
    wire[WATCHED] = request;
    request.onWireStart();
    return request;
  }

  forget({ key, request, older }: Expected): void {
    let newer = this.#expected.get(key);
    if (newer?.request === request) {
      if (older === undefined) this.#expected.delete(key);
      else this.#expected.set(key, older);
      return;
    }
    while (newer !== undefined && newer.older?.request !== request) newer = newer.older;
    if (newer !== undefined) newer.older = older;
  }

  #forgetDropped(): void {
    for (const [key, { request }] of this.#expected) {
      if (!request.hasExpired) return;
      this.#expected.delete(key);
    }
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

/** The requests over `node:http`: got and axios show neither the header of a response nor the end of an attempt. */
export const watchNodeRequests: RequestWatch = {
  mayBeDropped: true,
  expect: (request) => nodeRequests().expect(request),
  forget: (expected) => nodeRequests().forget(expected),
};

/** The requests over undici, Node's `fetch` included: an unread response shows no end. */
export const watchUndiciRequests: RequestWatch = {
  mayBeDropped: false,
  expect: (request) => undiciRequests().expect(request),
  forget: (expected) => undiciRequests().forget(expected),
};

/** Watches a request that a function of the caller's, or HTTP/2, has sent: no channel reports it. */
export function watchClientRequest(wire: unknown, request: WatchedRequest): void {
  if (!isClientRequest(wire)) return;
  request.onWireStart();
  request.onWireSent();
  // After the end of the response, and after each failure.
  wire.once('close', () => request.finish());
  wire.once('response', (response) => onResponse(response, request));
}

function isClientRequest(wire: unknown): wire is ClientRequest {
  return typeof Reflect.get(Object(wire), 'once') === 'function';
}

function onResponse(response: ClientResponse, request: WatchedRequest): void {
  request.onWireHeaders(response.statusCode, response.headers);
  watchNodeStream(response, request);
}

// One subscription for all guards of the process, from the first request on that holds a permit.
const nodeRequests = once(() => {
  const requests = new WireRequests();
  const channels = builtin('node:diagnostics_channel');
  channels?.subscribe('http.client.request.start', (message) => {
    const { request } = message as { readonly request: NodeRequest };
    const watched = requests.sent(request, nodeOriginOf(request));
    // Published after the end of the response, and after each failure.
    if (watched === undefined) return;
    request.once('close', () => watched.finish());
    const { socket } = request;
    if (socket === null) request.once('socket', (given) => whenSending(given, watched));
    else whenSending(socket, watched);
  });
  channels?.subscribe('http.client.response.finish', (message) => {
    const { request, response } = message as {
      readonly request: NodeRequest;
      readonly response: ClientResponse;
    };
    const watched = request[WATCHED];
    if (watched !== undefined) onResponse(response, watched);
  });
  return requests;
});

const undiciRequests = once(() => {
  const requests = new WireRequests();
  const channels = builtin('node:diagnostics_channel');
  const end = (message: unknown): void =>
    (message as { readonly request: UndiciRequest }).request[WATCHED]?.onWireEnd();
  channels?.subscribe('undici:request:create', (message) => {
    const { request } = message as { readonly request: UndiciRequest };
    requests.sent(request, String(request.origin));
  });
  channels?.subscribe('undici:client:sendHeaders', (message) => {
    (message as { readonly request: UndiciRequest }).request[WATCHED]?.onWireSent();
  });
  // Published when the body has ended, with trailers or without.
  channels?.subscribe('undici:request:trailers', end);
  channels?.subscribe('undici:request:error', end);
  return requests;
});

/** A socket sends what waits for it once it is connected. */
function whenSending(socket: WireSocket, watched: WatchedRequest): void {
  const isConnecting = socket.connecting || socket.secureConnecting === true;
  if (!isConnecting) return watched.onWireSent();
  socket.once(socket.encrypted === true ? 'secureConnect' : 'connect', () => watched.onWireSent());
}

function nodeOriginOf(request: NodeRequest): string {
  const host = String(request.getHeader('host'));
  return `${request.protocol}//${host}`;
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
