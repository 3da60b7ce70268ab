// The small edition, for bundles: it is 8 KB compressed, and `zod` itself 25 KB.
import * as z from 'zod/mini';
import type { AnswerHeaders, OriginRecord, Suspect, UnavailableReason } from '../../lifecycle/index.ts';
import { octetsOfBase64, type RecordWithoutBody } from './stored-body.ts';

const utf8 = new TextEncoder();

/** A stored record, with the settings of its writer that a reader must know. */
export interface StoredRecord {
  readonly record: OriginRecord;
  /** The limit at which a truncated copy was cut. */
  readonly maxBodyBytes: number;
  /** For a record without a copy: how long its writer's profile would have kept one. */
  readonly keepCopyOnUnavailableMs: number;
}

/** Epoch milliseconds, or a span of them. The latest is the latest that a `Date` can hold. */
export const time: z.ZodMiniType<number> = z.number().check(z.minimum(0), z.maximum(8.64e15));
export const status: z.ZodMiniType<number> = z.int().check(z.minimum(100), z.maximum(999));
export const suspect: z.ZodMiniType<Suspect> = z.enum(['challenge', 'blocked', 'login', 'html']);
export const unavailableReason: z.ZodMiniType<UnavailableReason> = z.enum([
  'too-many-redirects',
  'redirect-loop',
  'disallowed-redirect',
]);
export const sha256: z.ZodMiniType<string> = z.string().check(z.regex(/^[0-9a-f]{64}$/));
export const errorCode: z.ZodMiniType<string> = z.string().check(z.regex(/^[A-Z][A-Z0-9_]{0,63}$/));

/** Octets that are written as text, or as base64. */
export const body: z.ZodMiniType<Uint8Array> = z.union([
  z.pipe(z.string(), z.transform(octetsOfText)),
  z.pipe(
    z.strictObject({ base64: z.base64() }),
    z.transform(({ base64 }) => octetsOfBase64(base64)),
  ),
]);

// These are sent in requests, so they must be valid field values.
const field = z.exactOptional(
  z.string().check(z.maxLength(1_024), z.regex(/^[\t\u0020-\u007e\u0080-\u00ff]*$/)),
);
// The length after the cut of `answerHeaders`.
const shown = z.string().check(z.maxLength(1_025));

export const headers: z.ZodMiniType<AnswerHeaders> = z.strictObject({
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

const url = z.string().check(z.maxLength(65_536), z.regex(/^(?:https?|ftp):\/\/\S+$/));
const route = {
  finalUrl: url,
  hops: z.int().check(z.minimum(0), z.maximum(100)),
  suspect: z.exactOptional(suspect),
};
const copyFields = {
  ...route,
  sha256: z.exactOptional(sha256),
  truncated: z.boolean(),
  status,
  fetchedAt: time,
  etag: field,
  lastModified: field,
  contentType: field,
};

/** The only description of an {@link OriginRecord} from outside. Unknown members and values out of bounds are refused. */
export const recordWithoutBody: z.ZodMiniType<RecordWithoutBody> = recordWith(z.strictObject(copyFields));

/** A store is outside input. The octets of a record are text or base64. */
export const storedRecord: z.ZodMiniType<StoredRecord> = z.strictObject({
  record: recordWith(z.strictObject({ ...copyFields, body })),
  maxBodyBytes: z.int().check(z.minimum(0)),
  keepCopyOnUnavailableMs: time,
});

function recordWith<Stored>(
  copy: z.ZodMiniType<Stored>,
): z.ZodMiniType<Omit<OriginRecord, 'copy'> & { readonly copy?: Stored }> {
  const course = {
    ...route,
    headers: z.exactOptional(headers),
    redirects: z.exactOptional(
      z.array(z.strictObject({ url: shown, status, location: shown })).check(z.maxLength(100)),
    ),
  };
  const answer = { ...course, status, fetchedAt: time, staleAt: time };
  return z.strictObject({
    origin: z.string().check(z.maxLength(65_536)),
    answer: z.exactOptional(
      z.discriminatedUnion('kind', [
        z.strictObject({
          ...answer,
          kind: z.literal('rules'),
          notModified: z.exactOptional(z.literal(true)),
        }),
        z.strictObject({
          ...answer,
          kind: z.literal('unavailable'),
          reason: z.exactOptional(unavailableReason),
          since: time,
        }),
        z.strictObject({ ...answer, kind: z.literal('restricted') }),
      ]),
    ),
    copy: z.exactOptional(copy),
    failure: z.exactOptional(
      z.strictObject({
        ...course,
        since: time,
        at: time,
        attempts: z.int().check(z.minimum(1)),
        retryAt: time,
        retryAfterMs: z.exactOptional(time),
        status: z.exactOptional(status),
        error: errorCode,
      }),
    ),
    site: z.exactOptional(z.strictObject({ reachable: z.boolean(), at: time })),
  });
}

function octetsOfText(text: string): Uint8Array {
  return utf8.encode(text);
}
