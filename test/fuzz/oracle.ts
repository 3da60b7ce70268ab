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
  let octets: Uint8Array = Buffer.concat(chunks);
  if (breaks && codings.length === 0) {
    return octets.length < LIMIT ? { kind: 'unreachable' } : { kind: 'unreachable-or-cut' };
  }
  if (breaks) return { kind: 'unreachable-or-cut' };
  try {
    for (const coding of codings.reverse()) octets = undo(coding, octets);
  } catch {
    return { kind: 'unreachable-or-cut' };
  }
  if (octets.length <= LIMIT) return { kind: 'success', body: octets, truncated: false };
  let end = LIMIT;
  const isEnd = (at: number): boolean => octets[at] === 0x0a || octets[at] === 0x0d;
  if (!isEnd(LIMIT)) while (end > 0 && !isEnd(end - 1)) end--;
  return { kind: 'success', body: octets.subarray(0, end), truncated: true };
}

function undo(coding: string, octets: Uint8Array): Uint8Array {
  if (octets.length === 0) return octets;
  if (coding === 'br') return brotliDecompressSync(octets);
  if (coding !== 'deflate') return gunzipSync(octets);
  return (octets[0]! & 0x0f) === 8 ? inflateSync(octets) : inflateRawSync(octets);
}
