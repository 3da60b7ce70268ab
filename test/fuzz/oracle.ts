import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { FuzzAnswer } from './generate.ts';

/** What the last answer of an attempt has to come to, by the documents and not by the code. */
export type Verdict =
  | { readonly kind: 'success'; readonly body: Uint8Array; readonly truncated: boolean }
  /** The site is open by its status. */
  | { readonly kind: 'unavailable' }
  /** Nothing may be allowed. */
  | { readonly kind: 'unreachable' }
  /** The body is damaged where this oracle cannot tell whether before or after the limit. */
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
  if (!isText(bytes.subarray(0, LIMIT + 1))) return { kind: 'unreachable' };
  if (bytes.length <= LIMIT) return { kind: 'success', body: bytes, truncated: false };
  let end = LIMIT;
  const isEnd = (at: number): boolean => bytes[at] === 0x0a || bytes[at] === 0x0d;
  if (!isEnd(LIMIT)) while (end > 0 && !isEnd(end - 1)) end--;
  const comment =
    isEnd(LIMIT) || /^(?:fffe|feff)/.test(start(bytes)) ? -1 : bytes.subarray(end, LIMIT).indexOf(0x23);
  return { kind: 'success', body: bytes.subarray(0, comment < 0 ? end : end + comment), truncated: true };
}

const start = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, 5)).toString('hex');

/** Other formats by how they begin: gzip, Zstandard, PNG, PDF, ZIP, UTF-32; and what has a NUL in its first line. */
function isText(bytes: Uint8Array): boolean {
  if (/^(?:1f8b|28b52ffd|89504e47|255044462d|504b0304|504b0506|fffe0000)/.test(start(bytes))) return false;
  if (/^(?:fffe|feff)/.test(start(bytes))) return true;
  const [firstLine = ''] = Buffer.from(bytes)
    .toString('latin1')
    .split(/[\r\n]/, 1);
  return !firstLine.includes('\0');
}

function undo(coding: string, bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return bytes;
  if (coding === 'br') return brotliDecompressSync(bytes);
  if (coding !== 'deflate') return gunzipSync(bytes);
  return (bytes[0]! & 0x0f) === 8 ? inflateSync(bytes) : inflateRawSync(bytes);
}
