import { z } from 'zod';
import type { AnswerHeaders, Redirect, Suspect, UnavailableReason } from '../../lifecycle/index.ts';

/**
 * What a stored record looks like, once it is known to be whole and of this version. Left out is what nearly every
 * record has in common: status 200, no redirect, a file fetched with its answer.
 */
export interface StoredRecord {
  readonly origin: string;
  readonly answer?: StoredAnswer | undefined;
  readonly copy?: StoredCopy | undefined;
  readonly failure?: StoredFailure | undefined;
  readonly site?: { readonly reachable: boolean; readonly at: number } | undefined;
  /** `keepCopyOnUnavailableMs` of whoever wrote it. @default 0 */
  readonly keptMs?: number | undefined;
}

export interface StoredRoute {
  /** @default `<origin>/robots.txt` */
  readonly finalUrl?: string | undefined;
  /** @default 0 */
  readonly hops?: number | undefined;
}

/** How the attempt went: shown, never decided by. */
interface StoredCourse extends StoredRoute {
  readonly headers?: { readonly [Field in keyof AnswerHeaders]?: string | undefined } | undefined;
  readonly redirects?: readonly Redirect[] | undefined;
  readonly suspect?: Suspect | undefined;
}

interface StoredAnswer extends StoredCourse {
  readonly kind: 'rules' | 'unavailable' | 'restricted';
  readonly notModified?: true | undefined;
  /** @default 200 */
  readonly status?: number | undefined;
  readonly fetchedAt: number;
  readonly staleAt: number;
  readonly reason?: UnavailableReason | undefined;
  /** @default `fetchedAt` */
  readonly since?: number | undefined;
}

interface StoredCopy extends StoredRoute {
  /** One of the two: the file as text, if it is UTF-8 and that is the shorter, else its octets. */
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
  /** How many octets the file has. */
  readonly octets: number;
  /** The limit that cut it, when one did. */
  readonly cutAt?: number | undefined;
  /** @default 200 */
  readonly status?: number | undefined;
  /** @default that of the answer */
  readonly fetchedAt?: number | undefined;
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  readonly contentType?: string | undefined;
  readonly suspect?: Suspect | undefined;
}

interface StoredFailure extends StoredCourse {
  readonly retryAfterMs?: number | undefined;
  readonly since: number;
  readonly at: number;
  readonly attempts: number;
  readonly retryAt: number;
  readonly status?: number | undefined;
  readonly error: string;
}

let schema: z.ZodType<StoredRecord> | undefined;

/** Reads what was stored; `undefined` when it is none. The schema is made when it is first needed. */
export function readStoredRecord(value: unknown): StoredRecord | undefined {
  return (schema ??= makeSchema()).safeParse(value).data;
}

function makeSchema(): z.ZodType<StoredRecord> {
  // The last moment a `Date` can hold.
  const time = z.number().min(0).max(8.64e15);
  const status = z.int().min(100).max(999);
  const url = z
    .string()
    .max(65_536)
    .regex(/^(?:https?|ftp):\/\/\S+$/);
  const route = { finalUrl: url.optional(), hops: z.int().min(0).max(100).optional() };
  // These go into requests: what no field can carry is not let in.
  const field = z
    .string()
    .max(1_024)
    .regex(/^[\t\u0020-\u007e\u0080-\u00ff]*$/);
  // As long as it can be once it was cut.
  const shown = z.string().max(1_025);
  const suspect = z.enum(['challenge', 'blocked', 'login', 'html']).optional();
  const course = {
    ...route,
    suspect,
    headers: z
      .strictObject({
        cacheControl: field.optional(),
        expires: field.optional(),
        date: field.optional(),
        age: field.optional(),
        etag: field.optional(),
        lastModified: field.optional(),
        contentType: field.optional(),
        retryAfter: field.optional(),
        location: shown.optional(),
      })
      .optional(),
    redirects: z
      .array(z.strictObject({ url: shown, status, location: shown }))
      .max(100)
      .optional(),
  };
  return z.strictObject({
    origin: z.string().max(65_536),
    answer: z
      .strictObject({
        ...course,
        kind: z.enum(['rules', 'unavailable', 'restricted']),
        notModified: z.literal(true).optional(),
        status: status.optional(),
        fetchedAt: time,
        staleAt: time,
        reason: z.enum(['too-many-redirects', 'redirect-loop', 'disallowed-redirect']).optional(),
        since: time.optional(),
      })
      .optional(),
    copy: z
      .strictObject({
        ...route,
        text: z.string().optional(),
        base64: z.string().optional(),
        octets: z.int().min(0),
        cutAt: z.int().min(0).optional(),
        status: status.optional(),
        fetchedAt: time.optional(),
        etag: field.optional(),
        lastModified: field.optional(),
        contentType: field.optional(),
        suspect,
      })
      .optional(),
    failure: z
      .strictObject({
        ...course,
        retryAfterMs: time.optional(),
        since: time,
        at: time,
        attempts: z.int().min(1),
        retryAt: time,
        status: status.optional(),
        error: z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/),
      })
      .optional(),
    site: z.strictObject({ reachable: z.boolean(), at: time }).optional(),
    keptMs: time.optional(),
  });
}
