import { CONTENT_CODING, PARTIAL_CONTENT, TRANSFER_CODING } from './failure.ts';
import type { ContentCoding, TransportResponse } from './transport.ts';

type Framed = Pick<TransportResponse, 'status' | 'headers' | 'hidesFields' | 'decode'>;

/** The error code if, by its header section, a body is not the whole decoded file; `undefined` when there is none. */
export function framingFault(response: Framed): string | undefined {
  const { status, headers, hidesFields = false } = response;
  if (!isChunkedAtMost(headers.get('transfer-encoding'))) return TRANSFER_CODING;
  if (!isSeenWhole(response)) return CONTENT_CODING;
  if (status !== 206) return undefined;
  return isWholeRange(headers.get('content-range'), hidesFields) && !isMultipart(headers.get('content-type'))
    ? undefined
    : PARTIAL_CONTENT;
}

/**
 * Whether a cut of the body would be noticed. It would by the decoders of this package, and without a content coding. A
 * transport that decodes by itself does not show whether a coded body was cut. Browsers ask for codings in any case, so
 * the codings that they undo are taken. Fetch standard, "handle content codings": "If codings are not supported, then
 * return bytes." One item that is unknown, empty or `identity` leaves all others undone too.
 */
function isSeenWhole(response: Framed): boolean {
  if (response.decode !== undefined || isSaidToBeEmpty(response)) return true;
  const contentEncoding = response.headers.get('content-encoding');
  const codings = contentCodings(contentEncoding);
  if (codings === undefined || codings.length === 0) return codings !== undefined;
  return response.hidesFields === true && codings.length === contentEncoding?.split(',').length;
}

/**
 * Whether the transfer coding is `chunked`, spelled as parsers know it, or none. Transports undo `chunked` and no other;
 * they leave the chunks of `chunked,` in the body, and those of `chunked` with a tab after it.
 */
function isChunkedAtMost(transferEncoding: string | undefined): boolean {
  return transferEncoding === undefined || /^chunked *$/i.test(transferEncoding);
}

/**
 * Whether the range is the whole file. RFC 9110 §14.4: `bytes 0-12/1000` are the first 13 of 1000 bytes. No range
 * was requested, so a 206 without the field is read as the whole file, unless the field may have been there.
 */
function isWholeRange(contentRange: string | undefined, mayBeHidden: boolean): boolean {
  if (contentRange === undefined) return !mayBeHidden;
  const [, last, length] = /^bytes[ \t]+0-(\d{1,15})\/(\d{1,15})$/i.exec(contentRange.trim()) ?? [];
  return last !== undefined && Number(last) + 1 === Number(length);
}

/** RFC 9110 §15.3.7.2: a response with several ranges has its `Content-Range` fields in the parts of its body. */
function isMultipart(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*multipart\/byteranges\b/i.test(contentType);
}

/**
 * Whether a body without bytes is an empty file. Servers may name a content coding for an empty file too. In other
 * cases no bytes at all are the result of a cut connection.
 */
export function isSaidToBeEmpty({ status, headers }: Pick<TransportResponse, 'status' | 'headers'>): boolean {
  return status === 204 || contentLength({ headers }) === 0;
}

/** The number of bytes that a body is said to have. */
export function contentLength({ headers }: Pick<TransportResponse, 'headers'>): number | undefined {
  const field = headers.get('content-length')?.trim();
  return field !== undefined && /^\d{1,15}$/.test(field) ? Number(field) : undefined;
}

/** The most codings that are undone. Each one amplifies again, and real servers use two at most. */
const MAX_CODINGS = 4;

/** Codings that are registered with IANA, and not undone here. */
const NOT_UNDONE: ReadonlySet<string> = new Set([
  'aes128gcm',
  'compress',
  'dcb',
  'dcz',
  'exi',
  'pack200-gzip',
  'x-compress',
  'zstd',
]);

/** RFC 9110 §8.4.1: "content-coding   = token". */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * The codings of a `Content-Encoding` field in the order in which they were applied; `[]` for none; `undefined` when
 * one of them is not undone. A label that no coding has (`UTF-8`, `aws-chunked`, `none`) says nothing: servers of files send
 * such labels with plain text.
 */
export function contentCodings(field: string | undefined): ContentCoding[] | undefined {
  const codings: ContentCoding[] = [];
  for (const item of field === undefined ? [] : field.split(',')) {
    const label = item.trim().toLowerCase();
    switch (label) {
      case '':
      case 'identity':
        break;
      case 'gzip':
      case 'x-gzip':
        codings.push('gzip');
        break;
      case 'deflate':
        codings.push('deflate');
        break;
      case 'br':
        codings.push('br');
        break;
      default:
        if (NOT_UNDONE.has(label) || !TOKEN.test(label)) return undefined;
    }
    if (codings.length > MAX_CODINGS) return undefined;
  }
  return codings;
}
