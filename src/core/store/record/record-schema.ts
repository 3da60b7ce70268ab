/** The one description of a record from a store, a snapshot or an evidence file. Loaded with one of them only. */
import * as z from 'zod/mini';
import { type OriginRecord, SUSPECTS, type UnavailableReason } from '../../lifecycle/index.ts';
import { bytesOfBase64, type RecordWithoutBody } from './stored-body.ts';

const utf8 = new TextEncoder();

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
      status: z.exactOptional(status),
      error: text(64, /^[A-Z][A-Z0-9_]*$/),
    }),
  ),
  site: z.exactOptional(z.strictObject({ reachable: z.boolean(), at: time })),
};

/** A record in evidence, whose body has a line of its own. */
export const recordWithoutBody: z.ZodMiniType<RecordWithoutBody> = z.strictObject({
  ...record,
  copy: z.exactOptional(z.strictObject(copy)),
});

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
  return typeof body === 'string' ? utf8.encode(body) : bytesOfBase64(body.base64);
}
