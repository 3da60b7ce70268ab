import { ignore } from '../base/index.ts';
import { decode } from './decode.ts';
import type { ResponseHeaders, TransportResponse } from './transport.ts';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';

/** A response of undici, or over HTTP/2. */
export type ResponseData = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'> & {
  readonly body: Readable;
  readonly hidesFields?: boolean;
};

/** A discarded body of up to this size is read to its end, so that its connection can be reused. */
const DRAIN_BYTES = 16_384;

/** The time that a discarded body may take to drain. */
const DRAIN_MS = 1_000;

/** The response of a transport, which adds what it knows of the connection. */
export function toResponse(
  { statusCode, headers, body, hidesFields = false }: ResponseData,
  known: Pick<TransportResponse, 'isPublic' | 'mayBeFromProxy'>,
): TransportResponse {
  // A body destroyed by its reader emits an error. Without a listener it would end the process.
  body.on('error', ignore);
  return {
    status: statusCode,
    headers: headersOf(headers),
    body,
    decode,
    hidesFields,
    discard: () => drain(body),
    ...known,
  };
}

function drain(body: Readable): void {
  let bytes = 0;
  const timer = setTimeout(() => body.destroy(), DRAIN_MS);
  timer.unref();
  body.once('close', () => clearTimeout(timer));
  body.on('data', (chunk: Uint8Array) => {
    bytes += chunk.byteLength;
    if (bytes > DRAIN_BYTES) body.destroy();
  });
}

/** Fields whose repeated lines are joined: list fields, and one that must not be repeated. */
const JOINED: ReadonlySet<string> = new Set([
  'cache-control',
  'content-encoding',
  'transfer-encoding',
  'content-range',
  'proxy-status',
]);

function headersOf(fields: ResponseData['headers']): ResponseHeaders {
  return {
    get: (name) => {
      const value = fields[name];
      if (!Array.isArray(value)) return value;
      return JOINED.has(name) ? value.join(', ') : value[0];
    },
  };
}
