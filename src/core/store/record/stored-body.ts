import { builtin } from '../../base/index.ts';
import type { Copy, OriginRecord } from '../../lifecycle/index.ts';

/** A record without the bytes of its copy. */
export type RecordWithoutBody = Omit<OriginRecord, 'copy'> & { readonly copy?: Omit<Copy, 'body'> };

/** A BOM is part of the file. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * A body as JSON: its text or, if that is shorter than the text with its escapes, `{"base64":"…"}`. A store may compress
 * it. JSON, because a caller that stringified the text again would take twice as long.
 */
export function bodyJson(body: Uint8Array): string {
  const base64Length = Math.ceil(body.length / 3) * 4 + 2;
  try {
    const text = textOf(body);
    const json = JSON.stringify(text);
    // Quotes and escapes are ASCII: each character that JSON adds is a byte.
    if (body.length + json.length - text.length <= base64Length) return json;
  } catch {
    // Not valid UTF-8.
  }
  return `{"base64":"${base64OfBytes(body)}"}`;
}

const buffers = builtin('node:buffer');

/**
 * The text of a body. `TextDecoder` of Node 20 gives two bytes to each character, also of ASCII, which takes twice as
 * long to stringify, to check and to compress.
 *
 * @throws TypeError when it is not valid UTF-8.
 */
function textOf(body: Uint8Array): string {
  if (buffers?.isAscii?.(body) !== true) return utf8.decode(body);
  return buffers.Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
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
