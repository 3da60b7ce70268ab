import { builtin } from '../base/index.ts';
import {
  clampToNow,
  validateRecord,
  type RecordFault,
  type OriginRecord,
  type Profile,
  SUSPECTS,
  type UnavailableReason,
} from '../lifecycle/index.ts';
import * as z from 'zod/mini';

/** Raise this with every change of what is written: of two versions under one key each would reject, and overwrite, the other's. */
export const RECORD_VERSION = 4;

/**
 * The key of a record or a lease: the record's version, the cache namespace, and the origin. Records and leases have
 * keys of their own, so that a store can keep both in the same way.
 */
export function storeKey(kind: 'record' | 'lease', namespace: string, origin: string): string {
  return `v${RECORD_VERSION}:${kind}:${namespace}:${origin}`;
}

/**
 * The key of the slots and pauses of a scope. All clients share them, whatever their namespace. They have a version of
 * their own: two keys are two schedules, so that a fleet which is half upgraded would ask a site too often. Raise it only
 * when their meaning changes.
 */
export function slotKey(scope: string): string {
  return `slot:v1:${scope}`;
}

/** The cache namespace: clients share records only if these are equal. */
export interface CacheNamespace {
  /** Product token of the requests. Sites respond to crawlers differently. */
  readonly token: string;
  /** A stricter policy must not use a response from an address that it would have refused. */
  readonly addressPolicy: string;
}

/** The namespace as a part of {@link storeKey}. */
export function namespaceKey({ token, addressPolicy }: CacheNamespace): string {
  return `${token.toLowerCase()}:${addressPolicy}`;
}

const RECORD_KEY = new RegExp(`^v${RECORD_VERSION}:record:([^:]*):([^:]*):(.+)$`, 's');

/** The namespace and the origin of a record's key; `undefined` for any other key or version. */
export function readRecordKey(key: string): (CacheNamespace & { readonly origin: string }) | undefined {
  const [, token, addressPolicy, origin] = RECORD_KEY.exec(key) ?? [];
  if (token === undefined || addressPolicy === undefined || origin === undefined) return undefined;
  return { token, addressPolicy, origin };
}

/**
 * The reason why an entry is rejected. `damaged`: it is not a record, or not as written. `version`: from another
 * version of this package. `origin`: about another origin. `too-large`: larger than the limit of a file, or cut at a
 * lower limit than ours.
 */
export type Rejection = 'damaged' | 'version' | 'origin' | 'too-large' | RecordFault;

export type Decoded =
  | { readonly record: OriginRecord; readonly rejected?: undefined }
  | { readonly record?: undefined; readonly rejected: Rejection };

export interface RecordCodecOptions {
  readonly maxBodyBytes: number;
  readonly profileOf: (origin: string) => Profile;
}

/** The most characters of a record without its file. */
const MAX_REST_LENGTH = 256 * 1_024;
/** The ends of a copy, a record and an entry. */
const ENDS = '}}}';
const HEAD = /^\{"v":(\d{1,9}),"sum":(\d{1,10}),/;

/**
 * Origin records as text: JSON after its version and a checksum. The checksum gives no protection against an
 * attacker. It finds values that were cut, transcoded or mixed up, which could otherwise allow what the site's file
 * disallows.
 */
export class RecordCodec {
  readonly #options: RecordCodecOptions;
  readonly #maxLength: number;

  constructor(options: RecordCodecOptions) {
    this.#options = options;
    // A body is stored as text only if that is shorter than base64.
    this.#maxLength = Math.ceil((options.maxBodyBytes * 4) / 3) + MAX_REST_LENGTH;
  }

  encode(record: OriginRecord): string {
    const { maxBodyBytes, profileOf } = this.#options;
    const { keepCopyOnUnavailableMs } = profileOf(record.origin);
    const writer = { maxBodyBytes, keepCopyOnUnavailableMs };
    const { copy, ...others } = record;
    if (copy === undefined) return summed(JSON.stringify({ ...writer, record: others }).slice(1));
    const { body, ...described } = copy;
    // The copy comes last, and its body last in the copy.
    const json = JSON.stringify({ ...writer, record: { ...others, copy: described } });
    return summed(`${json.slice(1, -ENDS.length)},"body":`, bodyJson(body), ENDS);
  }

  /** Decodes an entry about `origin`. Anything invalid is rejected. */
  decode(entry: unknown, now: number, origin: string): Decoded {
    if (typeof entry !== 'string') return { rejected: 'damaged' };
    if (entry.length > this.#maxLength) return { rejected: 'too-large' };
    const head = HEAD.exec(entry);
    if (head === null) return { rejected: 'damaged' };
    if (Number(head[1]) !== RECORD_VERSION) return { rejected: 'version' };
    const rest = entry.slice(head[0].length);
    if (crc32(rest) !== Number(head[2])) return { rejected: 'damaged' };
    const stored = readStoredRecord(parseJson(`{${rest}`));
    if (stored === undefined) return { rejected: 'damaged' };
    const { record } = stored;
    if (record.origin !== origin) return { rejected: 'origin' };
    const rejected = this.#reject(stored) ?? validateRecord(record, this.#options.profileOf(origin), now);
    return rejected === undefined ? { record: clampToNow(record, now) } : { rejected };
  }

  /** Rejects records because of the settings of their writer. */
  #reject({ record, ...writer }: StoredRecord): Rejection | undefined {
    const { maxBodyBytes, profileOf } = this.#options;
    const { origin, answer, copy } = record;
    // Under a lower limit than ours, a rule may be missing that we would have read.
    const isCutEarly = copy?.truncated === true && writer.maxBodyBytes < maxBodyBytes;
    if (isCutEarly || (copy?.body.length ?? 0) > maxBodyBytes) return 'too-large';
    // The writer may have dropped a copy that our profile would still use.
    const { keepCopyOnUnavailableMs } = profileOf(origin);
    const keptShorter = writer.keepCopyOnUnavailableMs < keepCopyOnUnavailableMs;
    return answer?.kind === 'unavailable' && keptShorter ? 'profile' : undefined;
  }
}

/** An entry, of parts in JSON. Nothing is copied here: the text becomes one when it is converted to bytes. */
function summed(start: string, body = '', end = ''): string {
  const sum = crc32(end, crc32(body, crc32(start)));
  return `{"v":${RECORD_VERSION},"sum":${sum},${start}${body}${end}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The CRC-32 of a text in UTF-8 (ISO 3309, as in gzip and in zlib's `crc32`), or of a text after that with the sum
 * `before`.
 */
export const crc32: (text: string, before?: number) => number = builtin('node:zlib')?.crc32 ?? crc32OfText;

/** {@link crc32} for platforms without `node:zlib`. The polynomial is 0xEDB88320, with its bits reversed. */
export function crc32OfText(text: string, before = 0): number {
  let remainder = ~before;
  for (const byte of new TextEncoder().encode(text)) {
    remainder ^= byte;
    for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ ((remainder & 1) * 0xedb88320);
  }
  return ~remainder >>> 0;
}

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
