import type { Profile, StatusClass } from './profile.ts';
import type { Suspect } from './challenge-pages.ts';

/**
 * The outcome of one attempt to fetch `/robots.txt`. `fetch/` produces it, and `next-record.ts` merges it into the
 * origin record. The union is closed on purpose: there is no kind "other".
 */

/** The reason why a response counts as `unavailable` although its status does not say so. */
export type UnavailableReason = 'too-many-redirects' | 'redirect-loop' | 'disallowed-redirect';

/**
 * The response header fields that are kept: for the lifetime, for revalidation, and for reports. Values are as
 * received; the reader bounds their length.
 */
export interface RobotsResponseHeaders {
  readonly cacheControl?: string;
  readonly expires?: string;
  readonly date?: string;
  readonly age?: string;
  readonly etag?: string;
  readonly lastModified?: string;
  readonly contentType?: string;
  readonly retryAfter?: string;
  /** Only for a redirect that was not followed. */
  readonly location?: string;
}

/** The members of {@link RobotsResponseHeaders} that any response can have, each with its HTTP field name. */
export const RESPONSE_FIELDS: readonly (readonly [
  key: Exclude<keyof RobotsResponseHeaders, 'location'>,
  name: string,
])[] = [
  ['contentType', 'content-type'],
  ['cacheControl', 'cache-control'],
  ['expires', 'expires'],
  ['age', 'age'],
  ['date', 'date'],
  ['etag', 'etag'],
  ['lastModified', 'last-modified'],
  ['retryAfter', 'retry-after'],
];

/** A redirect that was followed. For reports only; long texts may be truncated. */
export interface Redirect {
  /** The URL that was requested. */
  readonly url: string;
  readonly status: number;
  /** The `Location` field as received. */
  readonly location: string;
}

/** The last request of an attempt, and the redirects that led to it. */
export interface Route {
  /** URL of the last request, without the fragment. */
  readonly finalUrl: string;
  /** Number of redirects followed. 0 when `<origin>/robots.txt` itself responded. */
  readonly hops: number;
  /** The redirects followed, in order. Absent when there were none. */
  readonly redirects?: readonly Redirect[];
  /** Set when the response does not look like a robots.txt. */
  readonly suspect?: Suspect;
}

export type Outcome =
  | (Route & {
      readonly kind: 'success';
      readonly status: number;
      readonly headers: RobotsResponseHeaders;
      /** The decoded bytes, at most the body limit. A line that the limit cuts is dropped. */
      readonly body: Uint8Array;
      /** SHA-256 of `body`, in hex. */
      readonly sha256?: string;
      /** Whether bytes past the limit were not read. */
      readonly truncated: boolean;
    })
  | (Route & { readonly kind: 'not-modified'; readonly status: 304; readonly headers: RobotsResponseHeaders })
  | (Route & {
      readonly kind: 'unavailable';
      readonly status: number;
      readonly headers: RobotsResponseHeaders;
      readonly reason?: UnavailableReason;
    })
  | (Route & {
      readonly kind: 'restricted';
      readonly status: number;
      readonly headers: RobotsResponseHeaders;
    })
  | (Route & {
      readonly kind: 'unreachable';
      /** Absent when no response arrived. */
      readonly status?: number;
      /** A literal code: `ERR_ROBOTS_*`, or the code of Node or undici (`ENOTFOUND`, `UND_ERR_CONNECT_TIMEOUT`). */
      readonly error: string;
      /** Absent when no response arrived. */
      readonly headers?: RobotsResponseHeaders;
      /** The pause from `Retry-After`, parsed and clamped by `retryAfterMs()`. */
      readonly retryAfterMs?: number;
    } & ThrownDetails);

/** What is known of an error beyond its code. Not in JSON, and so in no store: it may hold anything. */
export interface ThrownDetails {
  /** The address that refused; of an error without a code its message. */
  readonly detail?: string | undefined;
  /** The error that code of the caller, such as a `fetch`, threw. */
  readonly cause?: unknown;
}

/** Adds the details, as properties that JSON and spreads leave out. */
export function withThrown<Part extends object>(
  part: Part,
  { detail, cause }: ThrownDetails,
): Part & ThrownDetails {
  return detail === undefined
    ? part
    : Object.defineProperties(part, { detail: { value: detail }, cause: { value: cause } });
}

/** The same response without its redirects, for the origin of the final URL. */
export function withoutRedirects(outcome: Extract<Outcome, { readonly kind: 'success' }>): Outcome {
  const { redirects: _, ...rest } = outcome;
  return { ...rest, hops: 0 };
}

/** Codes of certificates that are not accepted: Node's, and those of OpenSSL. */
const CERTIFICATE_CODE = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|CRL_|ERR_TLS_/;

/** Whether a failure is that of a certificate. */
export function isCertificateFailure(code: string): boolean {
  return CERTIFICATE_CODE.test(code);
}

/** Codes of connections to sites that are not there. Not of time-outs, resets and failing name servers: these pass. */
const ABSENT_CODES: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EHOSTUNREACH']);

/**
 * Whether the site is not there: the name does not exist, nothing listens, or the certificate is not the site's. Any response,
 * even a redirect, is one of a site that is there, however busy or broken it is.
 */
export function isAbsent({ error, status, hops }: FailedAttempt): boolean {
  if (error === undefined || status !== undefined || hops > 0) return false;
  return ABSENT_CODES.has(error) || isCertificateFailure(error);
}

/** Codes of connections to sites that may be there. */
const PASSING_CODES: ReadonlySet<string> = new Set(['EAI_AGAIN', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

/** Whether there was no connection, so that the server has seen no request. */
export function isUnconnected(code: string): boolean {
  return ABSENT_CODES.has(code) || PASSING_CODES.has(code) || isCertificateFailure(code);
}

interface FailedAttempt {
  readonly error?: string | undefined;
  readonly status?: number | undefined;
  readonly hops: number;
}

/**
 * The meaning of the last response's status under a profile. An exact code beats its class. Codes without an entry (1xx, a
 * 304 to an unconditional request, a redirect without a usable `Location`, 600 and above) are unreachable.
 *
 * RFC 9309 does not define these codes. The draft before it said: "For other undefined status codes, the crawler MUST assume the
 * robots.txt is unreachable."
 */
export function classifyStatus(status: number, profile: Pick<Profile, 'status'>): StatusClass {
  return (
    own(profile.status, `${status}`) ?? own(profile.status, `${Math.floor(status / 100)}xx`) ?? 'unreachable'
  );
}

/** Reads an own property only: profiles come from callers, and `Object.prototype` has names too. */
function own(status: Profile['status'], key: string): StatusClass | undefined {
  return Object.hasOwn(status, key) ? status[key] : undefined;
}
