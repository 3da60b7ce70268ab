import { abortSignalOf } from '../base/index.ts';
import { contentCodings } from './content-coding.ts';
import { FetchFailure, CONTENT_CODING, REDIRECT_OPAQUE } from './failure.ts';
import { sendOverSocket } from './reused-sockets.ts';
import type { ResponseHeaders, Transport, TransportResponse } from './transport.ts';

/** The part of a WHATWG `Response` that is used. */
export interface FetchedResponse {
  readonly status: number;
  readonly type?: string;
  readonly headers: { get(name: string): string | null };
  readonly body: FetchedBody | null;
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
 * Sends requests through a `fetch`, which negotiates content codings and undoes them. It does not report its sockets,
 * so a socket counts as reused when the origin has answered recently.
 */
export function fetchTransport(fetch: FetchFunction): Transport {
  const answered = new RecentOrigins();
  return {
    async request(url, { headers, signal }) {
      const abortSignal = abortSignalOf(signal);
      const response = await sendOverSocket(
        () =>
          fetch(url.href, {
            method: 'GET',
            headers: { ...headers },
            redirect: 'manual',
            signal: abortSignal,
          }),
        () => answered.delete(url.origin),
        signal,
      );
      answered.add(url.origin);
      if (response.type === 'opaqueredirect' || response.status === 0) {
        discard(response.body);
        throw new FetchFailure(REDIRECT_OPAQUE);
      }
      return toResponse(response, url);
    },
  };
}

/** More idle sockets than any `fetch` keeps. */
const MAX_RECENT = 1_024;

class RecentOrigins {
  readonly #origins = new Set<string>();

  add(origin: string): void {
    this.#origins.delete(origin);
    this.#origins.add(origin);
    if (this.#origins.size <= MAX_RECENT) return;
    for (const oldest of this.#origins) {
      this.#origins.delete(oldest);
      return;
    }
  }

  delete(origin: string): boolean {
    return this.#origins.delete(origin);
  }
}

function toResponse(response: FetchedResponse, { protocol }: URL): TransportResponse {
  const headers: ResponseHeaders = { get: (name) => response.headers.get(name) ?? undefined };
  return {
    status: response.status,
    headers,
    body: octets(response.body, headers),
    proxyMayAnswer: protocol === 'http:',
    discard: () => discard(response.body),
  };
}

async function* octets(body: FetchedBody | null, headers: ResponseHeaders): AsyncGenerator<Uint8Array> {
  // Fetch standard, "null body status": a 204 has no body, whatever its fields say.
  if (body === null) return;
  const contentEncoding = headers.get('content-encoding');
  if (!isUndone(contentEncoding)) {
    discard(body);
    throw new FetchFailure(CONTENT_CODING);
  }
  const isCoded = isNamed(contentEncoding);
  let isFirst = true;
  for await (const chunk of chunksOf(body)) {
    if (isFirst && isCoded && isGzip(chunk)) throw new FetchFailure(CONTENT_CODING);
    isFirst = false;
    yield chunk;
  }
  if (isFirst && isCoded && !mayBeEmptyFile(headers)) throw new FetchFailure(CONTENT_CODING);
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

/** Length of an empty file in gzip. Other codings need less. */
const EMPTY_GZIP_OCTETS = 20;

/**
 * Whether a coded body without octets may be an empty file. A `fetch` does not report that the connection closed
 * before the first octet, or that octets followed an empty stream; but so few octets have no room for a rule.
 */
function mayBeEmptyFile(headers: ResponseHeaders): boolean {
  const contentLength = headers.get('content-length')?.trim() ?? '';
  return /^\d+$/.test(contentLength) && Number(contentLength) <= EMPTY_GZIP_OCTETS;
}

/** Whether the field names a coding other than `identity`. */
function isNamed(contentEncoding: string | undefined): boolean {
  return contentCodings(contentEncoding)?.length !== 0;
}

/**
 * Whether a `fetch` undoes everything that the field names. Fetch standard, "handle content codings": "If codings are
 * not supported, then return bytes." One unknown item leaves all others undone too. `identity` and the empty item are
 * such items.
 */
function isUndone(contentEncoding: string | undefined): boolean {
  const codings = contentCodings(contentEncoding);
  if (codings === undefined) return false;
  return codings.length === 0
    ? contentEncoding?.includes(',') !== true
    : codings.length === contentEncoding?.split(',').length;
}

/** RFC 1952 §2.3.1: the magic octets. Some platforms do not undo a coding that the field names in capitals. */
function isGzip(start: Uint8Array): boolean {
  return start[0] === 0x1f && start[1] === 0x8b;
}

function discard(body: FetchedBody | null): void {
  body?.cancel().catch(ignore);
}

function ignore(): void {}
