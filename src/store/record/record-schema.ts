// The small edition, for bundles: it is 8 KB compressed, and `zod` itself 25 KB.
import * as z from 'zod/mini';
import type { OriginRecord } from '../../lifecycle/index.ts';
import { octetsOfBase64 } from './stored-body.ts';

/** A stored record, with the settings of its writer that a reader must know. */
export interface StoredEntry {
  readonly record: OriginRecord;
  /** The limit at which a truncated copy was cut. */
  readonly maxBodyBytes: number;
  /** For a record without a copy: how long its writer's profile would have kept one. */
  readonly keepCopyOnUnavailableMs: number;
}

/**
 * The only description of a stored record: an {@link OriginRecord} whose body is text or base64. A store is outside
 * input, so unknown members and values out of bounds are refused.
 */
export const storedEntry: z.ZodMiniType<StoredEntry> = makeSchema();

function makeSchema(): z.ZodMiniType<StoredEntry> {
  // The latest time that a `Date` can hold.
  const time = z.number().check(z.minimum(0), z.maximum(8.64e15));
  const status = z.int().check(z.minimum(100), z.maximum(999));
  const url = z.string().check(z.maxLength(65_536), z.regex(/^(?:https?|ftp):\/\/\S+$/));
  // These are sent in requests, so they must be valid field values.
  const field = z.exactOptional(
    z.string().check(z.maxLength(1_024), z.regex(/^[\t\u0020-\u007e\u0080-\u00ff]*$/)),
  );
  // The length after the cut of `answerHeaders`.
  const shown = z.string().check(z.maxLength(1_025));
  const suspect = z.exactOptional(z.enum(['challenge', 'blocked', 'login', 'html']));
  const route = { finalUrl: url, hops: z.int().check(z.minimum(0), z.maximum(100)), suspect };
  const course = {
    ...route,
    headers: z.exactOptional(
      z.strictObject({
        cacheControl: field,
        expires: field,
        date: field,
        age: field,
        etag: field,
        lastModified: field,
        contentType: field,
        retryAfter: field,
        location: z.exactOptional(shown),
      }),
    ),
    redirects: z.exactOptional(
      z.array(z.strictObject({ url: shown, status, location: shown })).check(z.maxLength(100)),
    ),
  };
  const answer = { ...course, status, fetchedAt: time, staleAt: time };
  const body = z.union([
    z.pipe(z.string(), z.transform(octetsOfText)),
    z.pipe(
      z.strictObject({ base64: z.base64() }),
      z.transform(({ base64 }) => octetsOfBase64(base64)),
    ),
  ]);
  const record = z.strictObject({
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
          reason: z.exactOptional(z.enum(['too-many-redirects', 'redirect-loop', 'disallowed-redirect'])),
          since: time,
        }),
        z.strictObject({ ...answer, kind: z.literal('restricted') }),
      ]),
    ),
    copy: z.exactOptional(
      z.strictObject({
        ...route,
        body,
        sha256: z.exactOptional(z.string().check(z.regex(/^[0-9a-f]{64}$/))),
        truncated: z.boolean(),
        status,
        fetchedAt: time,
        etag: field,
        lastModified: field,
        contentType: field,
      }),
    ),
    failure: z.exactOptional(
      z.strictObject({
        ...course,
        since: time,
        at: time,
        attempts: z.int().check(z.minimum(1)),
        retryAt: time,
        retryAfterMs: z.exactOptional(time),
        status: z.exactOptional(status),
        error: z.string().check(z.regex(/^[A-Z][A-Z0-9_]{0,63}$/)),
      }),
    ),
    site: z.exactOptional(z.strictObject({ reachable: z.boolean(), at: time })),
  });
  return z.strictObject({ record, maxBodyBytes: z.int().check(z.minimum(0)), keepCopyOnUnavailableMs: time });
}

const utf8 = new TextEncoder();

function octetsOfText(text: string): Uint8Array {
  return utf8.encode(text);
}
