import { type FetchCode, PARTIAL_CONTENT, TRANSFER_CODING } from './failure.ts';
import type { TransportResponse } from './transport.ts';

/** The reason why, by its header section, a body is not the whole decoded file; `undefined` when there is none. */
export function framingFault({
  status,
  headers,
}: Pick<TransportResponse, 'status' | 'headers'>): FetchCode | undefined {
  if (!isChunkedAtMost(headers.get('transfer-encoding'))) return TRANSFER_CODING;
  if (status !== 206) return undefined;
  return isWholeRange(headers.get('content-range')) && !isMultipart(headers.get('content-type'))
    ? undefined
    : PARTIAL_CONTENT;
}

/**
 * Whether the transfer coding is `chunked` or none. Transports undo `chunked` and no other. RFC 9112 §6.1: "A sender
 * MUST NOT apply the chunked transfer coding more than once to a message body".
 */
function isChunkedAtMost(transferEncoding: string | undefined): boolean {
  if (transferEncoding === undefined) return true;
  const [coding = '', ...others] = transferEncoding.split(',').filter((item) => item.trim() !== '');
  return others.length === 0 && /^(?:chunked)?$/i.test(coding.trim());
}

/**
 * Whether the range is the whole file. RFC 9110 §14.4: `bytes 0-12/1000` are the first 13 of 1000 octets. No range
 * was requested, so a 206 without the field is read as the whole file.
 */
function isWholeRange(contentRange: string | undefined): boolean {
  if (contentRange === undefined) return true;
  const [, last, length] = /^bytes[ \t]+0-(\d{1,15})\/(\d{1,15})$/i.exec(contentRange.trim()) ?? [];
  return last !== undefined && Number(last) + 1 === Number(length);
}

/** RFC 9110 §15.3.7.2: a response with several ranges has its `Content-Range` fields in the parts of its body. */
function isMultipart(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*multipart\/byteranges\b/i.test(contentType);
}
