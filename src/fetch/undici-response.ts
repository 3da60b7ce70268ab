import type { Dispatcher } from 'undici';
import type { ResponseHeaders, TransportResponse } from './transport.ts';

/** An unwanted body up to this size is read to its end, so that its connection stays usable. */
const DRAIN_OCTETS = 16_384;
/** How long a body may take to drain. */
const DRAIN_MS = 1_000;

/** What undici answers, as transports give it. */
export function toResponse(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  isPublic?: boolean,
): TransportResponse {
  // A body destroyed by its reader reports that as an error; without a listener it would end the process.
  body.on('error', ignore);
  return {
    status: statusCode,
    headers: new UndiciHeaders(headers),
    body,
    alreadyDecoded: false,
    discard: () => drain(body),
    ...(isPublic === undefined ? undefined : { isPublic }),
  };
}

function drain(body: Dispatcher.ResponseData['body']): void {
  let octets = 0;
  const timer = setTimeout(() => body.destroy(), DRAIN_MS);
  timer.unref();
  body.once('close', () => clearTimeout(timer));
  body.on('data', (chunk: Uint8Array) => {
    octets += chunk.byteLength;
    if (octets > DRAIN_OCTETS) body.destroy();
  });
}

/** Fields whose value is a list, so that repeating the field means a longer list. */
const LISTS: ReadonlySet<string> = new Set(['cache-control', 'content-encoding']);

class UndiciHeaders implements ResponseHeaders {
  readonly #fields: Dispatcher.ResponseData['headers'];

  constructor(fields: Dispatcher.ResponseData['headers']) {
    this.#fields = fields;
  }

  get(name: string): string | undefined {
    const value = this.#fields[name];
    if (!Array.isArray(value)) return value;
    return LISTS.has(name) ? value.join(', ') : value[0];
  }
}

function ignore(): void {}
