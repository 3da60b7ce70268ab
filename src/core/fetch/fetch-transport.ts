import { abortSignalOf, quote, RobotsInvalidOptionsError, ignore } from '../base/index.ts';
import { FetchFailure, REDIRECT_OPAQUE, TRANSFER_CODING } from './failure.ts';
import {
  OWN_REQUEST,
  type ResponseHeaders,
  sendOnceMore,
  type Transport,
  type TransportResponse,
} from './transport.ts';

/** The part of a WHATWG `Response` that is used. A stub without `body` has `text()`. */
export interface FetchedResponse {
  readonly status: number;
  readonly type?: string;
  readonly headers: { get(name: string): string | null | undefined };
  readonly body?: FetchedBody | AsyncIterable<Uint8Array> | null;
  text?(): Promise<string>;
}

/** The part of a WHATWG `ReadableStream` that is used. */
export interface FetchedBody {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
    cancel(reason?: unknown): Promise<unknown>;
  };
  cancel(reason?: unknown): Promise<unknown>;
}

/** Any WHATWG `fetch`: the global one, that of any version of undici, or a wrapper. */
export type FetchFunction = (
  url: string,
  init: { method: 'GET'; headers: Record<string, string>; redirect: 'manual'; signal: AbortSignal },
) => Promise<FetchedResponse>;

/**
 * Sends requests through a `fetch`. A `fetch` undoes content codings and does not show whether a coded body was cut, so
 * none is requested, and none is accepted.
 */
export function fetchTransport(fetch: FetchFunction): Transport {
  return {
    acceptEncoding: 'identity',
    async request(url, { headers, signal }) {
      const init = {
        method: 'GET' as const,
        headers: { ...headers },
        redirect: 'manual' as const,
        signal: abortSignalOf(signal),
        [OWN_REQUEST]: true,
      };
      const response = await sendOnceMore(async () => fetch(url.href, init), signal);
      assertResponse(response, url);
      if (response.type === 'opaqueredirect' || response.status === 0) {
        discard(response.body);
        throw new FetchFailure(REDIRECT_OPAQUE);
      }
      return toResponse(response, url);
    },
  };
}

/**
 * Refuses a stub that lacks what is needed, rather than to take the site for unreachable.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
function assertResponse(response: unknown, { href }: URL): void {
  const member = (...path: readonly string[]): unknown =>
    path.reduce((value: unknown, name) => Reflect.get(Object(value), name), response);
  const missing = [
    Number.isInteger(member('status')) ? [] : ['`status`, a number'],
    typeof member('headers', 'get') === 'function' ? [] : ['`headers`, with `get(name)`: `new Headers()`'],
    isReadable(member('body')) || typeof member('text') === 'function'
      ? []
      : ['`body`, a stream, or `text()`'],
  ].flat();
  if (missing.length === 0) return;
  throw new RobotsInvalidOptionsError(
    `Expected the response of \`fetch\` for ${quote(href)} to be a Response, got one without ${missing.join(' and without ')}`,
  );
}

function isReadable(body: unknown): boolean {
  return body === null || 'getReader' in Object(body) || Symbol.asyncIterator in Object(body);
}

function toResponse(response: FetchedResponse, { protocol }: URL): TransportResponse {
  const headers: ResponseHeaders = { get: (name) => response.headers.get(name) ?? undefined };
  return {
    status: response.status,
    headers,
    body: bytes(response),
    mayBeFromProxy: protocol === 'http:',
    hidesFields: (isPage ??= isBrowser()),
    discard: () => discard(response.body),
  };
}

/**
 * Whether the platform is a page or a worker of a browser. There `Accept-Encoding` is the browser's, which asks for every
 * coding that it knows, and a response from another site shows few of its fields (CORS). Fetch standard: `Accept-Encoding`
 * is a "forbidden request-header", which a `Request` drops.
 */
function isBrowser(): boolean {
  return (
    typeof Request === 'function' &&
    !new Request('http://localhost/', { headers: { 'accept-encoding': 'identity' } }).headers.has(
      'accept-encoding',
    )
  );
}

/** Found out at the first response, because Node takes tens of milliseconds to make its first `Request`. */
let isPage: boolean | undefined;

/** Chunks of the body. Fetch standard, "null body status": a 204 has none. */
async function* bytes(response: FetchedResponse): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const chunk of sourceOf(response)) {
    if (isFirst && beginsAsChunk(chunk)) throw new FetchFailure(TRANSFER_CODING);
    isFirst = false;
    yield chunk;
  }
}

/**
 * Whether a body begins with the size of a chunk (RFC 9112 §7.1) on a line of its own, as no robots.txt does. Pages see no
 * `Transfer-Encoding`, and Workers none that is empty, but the chunks are left in the body.
 */
function beginsAsChunk(start: Uint8Array): boolean {
  return /^[\da-f]{1,8}(?:;[^\r\n]*)?\r\n/i.test(String.fromCharCode(...start.subarray(0, 64)));
}

function sourceOf(response: FetchedResponse): AsyncIterable<Uint8Array> {
  const { body } = response;
  if (body === null || body === undefined) return textOf(response);
  // The iterator of a web stream is not everywhere.
  return 'getReader' in body ? chunksOf(body) : body;
}

/** The body of a stub. */
async function* textOf(response: FetchedResponse): AsyncGenerator<Uint8Array> {
  const text = response.body === null ? '' : ((await response.text?.()) ?? '');
  if (text !== '') yield new TextEncoder().encode(text);
}

/** Chunks of the body, without empty ones. */
async function* chunksOf(body: FetchedBody): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || value === undefined) {
        ended = true;
        return;
      }
      if (value.byteLength > 0) yield value;
    }
  } finally {
    if (!ended) reader.cancel().catch(ignore);
  }
}

function discard(body: FetchedResponse['body']): void {
  if (body === null || body === undefined) return;
  if ('cancel' in body) body.cancel().catch(ignore);
  // A stream of Node, as of node-fetch.
  else if ('destroy' in body && typeof body.destroy === 'function') body.destroy();
}
