import { z } from 'zod';
import type { OriginRecord } from '../../lifecycle/index.ts';
import { octetsOfBase64 } from './base64.ts';

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
export const storedEntry: z.ZodType<StoredEntry> = makeSchema();

function makeSchema(): z.ZodType<StoredEntry> {
  // The latest time that a `Date` can hold.
  const time = z.number().min(0).max(8.64e15);
  const status = z.int().min(100).max(999);
  const url = z
    .string()
    .max(65_536)
    .regex(/^(?:https?|ftp):\/\/\S+$/);
  // These are sent in requests, so they must be valid field values.
  const field = z
    .string()
    .max(1_024)
    .regex(/^[\t\u0020-\u007e\u0080-\u00ff]*$/)
    .exactOptional();
  // The length after the cut of `answerHeaders`.
  const shown = z.string().max(1_025);
  const suspect = z.enum(['challenge', 'blocked', 'login', 'html']).exactOptional();
  const route = { finalUrl: url, hops: z.int().min(0).max(100), suspect };
  const course = {
    ...route,
    headers: z
      .strictObject({
        cacheControl: field,
        expires: field,
        date: field,
        age: field,
        etag: field,
        lastModified: field,
        contentType: field,
        retryAfter: field,
        location: shown.exactOptional(),
      })
      .exactOptional(),
    redirects: z
      .array(z.strictObject({ url: shown, status, location: shown }))
      .max(100)
      .exactOptional(),
  };
  const answer = { ...course, status, fetchedAt: time, staleAt: time };
  const body = z.union([
    z.string().transform(octetsOfText),
    z.strictObject({ base64: z.base64() }).transform(({ base64 }) => octetsOfBase64(base64)),
  ]);
  const record = z.strictObject({
    origin: z.string().max(65_536),
    answer: z
      .discriminatedUnion('kind', [
        z.strictObject({
          ...answer,
          kind: z.literal('rules'),
          notModified: z.literal(true).exactOptional(),
        }),
        z.strictObject({
          ...answer,
          kind: z.literal('unavailable'),
          reason: z.enum(['too-many-redirects', 'redirect-loop', 'disallowed-redirect']).exactOptional(),
          since: time,
        }),
        z.strictObject({ ...answer, kind: z.literal('restricted') }),
      ])
      .exactOptional(),
    copy: z
      .strictObject({
        ...route,
        body,
        truncated: z.boolean(),
        status,
        fetchedAt: time,
        etag: field,
        lastModified: field,
        contentType: field,
      })
      .exactOptional(),
    failure: z
      .strictObject({
        ...course,
        since: time,
        at: time,
        attempts: z.int().min(1),
        retryAt: time,
        retryAfterMs: time.exactOptional(),
        status: status.exactOptional(),
        error: z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/),
      })
      .exactOptional(),
    site: z.strictObject({ reachable: z.boolean(), at: time }).exactOptional(),
  });
  return z.strictObject({ record, maxBodyBytes: z.int().min(0), keepCopyOnUnavailableMs: time });
}

const utf8 = new TextEncoder();

function octetsOfText(text: string): Uint8Array {
  return utf8.encode(text);
}
