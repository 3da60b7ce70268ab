import type { Copy, OriginRecord } from '../../lifecycle/index.ts';

/** A record without the bytes of its copy. */
export type RecordWithoutBody = Omit<OriginRecord, 'copy'> & { readonly copy?: Omit<Copy, 'body'> };

/** A BOM is part of the file. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** The body as text if, JSON escapes included, that is not longer than base64. A store may compress it. */
export function storedBody(body: Uint8Array): string | { readonly base64: string } {
  const base64Length = Math.ceil(body.length / 3) * 4 + 2;
  try {
    const text = utf8.decode(body);
    const json = JSON.stringify(text);
    // A text of as many characters as bytes is ASCII.
    const jsonLength = text.length === body.length ? json.length : encoder.encode(json).length;
    if (jsonLength <= base64Length) return text;
  } catch {
    // Not valid UTF-8.
  }
  return { base64: base64OfBytes(body) };
}

/** `String.fromCharCode` takes its characters as arguments, and engines limit their number. */
const BYTES_AT_ONCE = 8_192;

/** Bytes as base64. */
export function base64OfBytes(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += BYTES_AT_ONCE) {
    text += String.fromCharCode(...bytes.subarray(at, at + BYTES_AT_ONCE));
  }
  return btoa(text);
}

/** @throws DOMException when the text is no base64. */
export function bytesOfBase64(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
