/** The one description of a record from a store or an evidence file. Loaded with one of them only. */
import * as z from 'zod/mini';
import { builtin } from '../../base/index.ts';
import { type OriginRecord, SUSPECTS, type UnavailableReason } from '../../lifecycle/index.ts';

/** A stored record, with the settings of its writer that a reader must know. */
export interface StoredRecord {
  readonly record: OriginRecord;
  /** The limit at which a truncated copy was cut. */
  readonly maxBodyBytes: number;
  /** For a record without a copy: how long its writer's profile would have kept one. */
  readonly keepCopyOnUnavailableMs: number;
}

/** Bytes, written as text if that is not longer than base64. */
export type WrittenBody = string | { readonly base64: string };

const text = (maxLength: number, pattern = /^/): z.ZodMiniString =>
  z.string().check(z.maxLength(maxLength), z.regex(pattern));
const whole = (min: number, max: number): z.ZodMiniNumber => z.int().check(z.gte(min), z.lte(max));

/** Epoch milliseconds, or a span of them. The latest is the latest that a `Date` can hold. */
const time = z.number().check(z.gte(0), z.lte(8.64e15));
const status = whole(100, 999);
const reasons: readonly UnavailableReason[] = ['too-many-redirects', 'redirect-loop', 'disallowed-redirect'];

const base64 = z.string().check(
  z.regex(/^[0-9A-Za-z+/]*={0,2}$/),
  z.refine((value) => value.length % 4 === 0),
);
const body = z.union([z.string(), z.strictObject({ base64 })]);

// These are sent in requests, so they must be valid field values.
const field = z.exactOptional(text(1_024, /^[\t\u0020-\u007e\u0080-\u00ff]*$/));
// The length after the cut of `keptHeaders`.
const shown = text(1_025);

const headers = z.strictObject({
  cacheControl: field,
  expires: field,
  date: field,
  age: field,
  etag: field,
  lastModified: field,
  contentType: field,
  retryAfter: field,
  location: z.exactOptional(shown),
});
const route = {
  finalUrl: text(65_536, /^(?:https?|ftp):\/\/\S+$/),
  hops: whole(0, 100),
  suspect: z.exactOptional(z.enum(SUSPECTS)),
};
const course = {
  ...route,
  headers: z.exactOptional(headers),
  redirects: z.exactOptional(
    z.array(z.strictObject({ url: shown, status, location: shown })).check(z.maxLength(100)),
  ),
};

const anyResponse = { ...course, status, fetchedAt: time, staleAt: time };
const answer = z.discriminatedUnion('kind', [
  z.strictObject({ ...anyResponse, kind: z.literal('rules'), notModified: z.exactOptional(z.literal(true)) }),
  z.strictObject({
    ...anyResponse,
    kind: z.literal('unavailable'),
    reason: z.exactOptional(z.enum(reasons)),
    since: time,
  }),
  z.strictObject({ ...anyResponse, kind: z.literal('restricted') }),
]);

const copy = {
  ...route,
  sha256: z.exactOptional(text(64, /^[0-9a-f]{64}$/)),
  truncated: z.boolean(),
  status,
  fetchedAt: time,
  etag: field,
  lastModified: field,
  contentType: field,
};

const record = {
  origin: text(65_536),
  answer: z.exactOptional(answer),
  failure: z.exactOptional(
    z.strictObject({
      ...course,
      since: time,
      at: time,
      attempts: whole(1, Number.MAX_SAFE_INTEGER),
      retryAt: time,
      retryAfterMs: z.exactOptional(time),
      dead: z.exactOptional(z.literal(true)),
      status: z.exactOptional(status),
      error: text(64, /^[A-Z][A-Z0-9_]*$/),
    }),
  ),
  site: z.exactOptional(z.strictObject({ reachable: z.boolean(), at: time })),
};

const written = z.strictObject({
  record: z.strictObject({ ...record, copy: z.exactOptional(z.strictObject({ ...copy, body })) }),
  maxBodyBytes: whole(0, Number.MAX_SAFE_INTEGER),
  keepCopyOnUnavailableMs: time,
});

/** A stored record with its body as bytes; `undefined` for anything else. */
export function readStoredRecord(value: unknown): StoredRecord | undefined {
  const { data } = written.safeParse(value);
  if (data === undefined) return undefined;
  const { copy: found, ...rest } = data.record;
  return {
    ...data,
    record: found === undefined ? rest : { ...rest, copy: { ...found, body: bytesOf(found.body) } },
  };
}

/** The bytes of a written body. */
export function bytesOf(body: WrittenBody): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  return Uint8Array.from(atob(body.base64), (character) => character.charCodeAt(0));
}

/** A BOM is part of the file. */
const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

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
  if (buffers?.isAscii?.(body) !== true) return utf8Decoder.decode(body);
  return buffers.Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
}

/** `String.fromCharCode` takes its characters as arguments, and engines limit their number. */
const BYTES_AT_ONCE = 8_192;

/** Bytes as base64. */
function base64OfBytes(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += BYTES_AT_ONCE) {
    text += String.fromCharCode(...bytes.subarray(at, at + BYTES_AT_ONCE));
  }
  return btoa(text);
}
