import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { FuzzAnswer } from './generate.ts';

/** What the last answer of an attempt has to come to, told from the documents and not from the code. */
export type Verdict =
  | { readonly kind: 'success'; readonly body: Uint8Array; readonly truncated: boolean }
  /** The site is open by its status. */
  | { readonly kind: 'unavailable' }
  /** Nothing may be allowed. */
  | { readonly kind: 'unreachable' }
  /** The body is damaged where this oracle cannot tell before or behind the limit. */
  | { readonly kind: 'unreachable-or-cut' };

const LIMIT = 512_000;

/** Under the profile `rfc9309`. Redirects that are followed never come here. */
export function verdictOn({ status, fields, chunks, breaks }: FuzzAnswer): Verdict {
  if (status >= 400 && status < 500) return { kind: status === 429 ? 'unreachable' : 'unavailable' };
  if (status < 200 || status >= 300) return { kind: 'unreachable' };
  const codings = (fields.get('content-encoding') ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > 4 || !codings.every((coding) => /^(?:x-gzip|gzip|deflate|br)$/.test(coding))) {
    return { kind: 'unreachable' };
  }
  let bytes: Uint8Array = Buffer.concat(chunks);
  if (breaks && codings.length === 0) {
    return bytes.length < LIMIT ? { kind: 'unreachable' } : { kind: 'unreachable-or-cut' };
  }
  if (breaks) return { kind: 'unreachable-or-cut' };
  try {
    for (const coding of codings.reverse()) bytes = undo(coding, bytes);
  } catch {
    return { kind: 'unreachable-or-cut' };
  }
  if (bytes.length <= LIMIT) return { kind: 'success', body: bytes, truncated: false };
  let end = LIMIT;
  const isEnd = (at: number): boolean => bytes[at] === 0x0a || bytes[at] === 0x0d;
  if (!isEnd(LIMIT)) while (end > 0 && !isEnd(end - 1)) end--;
  return { kind: 'success', body: bytes.subarray(0, end), truncated: true };
}

function undo(coding: string, bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return bytes;
  if (coding === 'br') return brotliDecompressSync(bytes);
  if (coding !== 'deflate') return gunzipSync(bytes);
  return (bytes[0]! & 0x0f) === 8 ? inflateSync(bytes) : inflateRawSync(bytes);
}
