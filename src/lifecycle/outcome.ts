import type { Profile, StatusMeaning } from './profile.ts';
import type { Suspect } from './challenge-pages.ts';

/**
 * What one attempt to fetch `/robots.txt` came to. The network side (`fetch/`) produces it, the time side
 * (`transition.ts`) folds it into what is known of the origin. Closed on purpose: there is no "other".
 */

/** Why an answer of the server does not count as a usable robots.txt although nothing broke. */
export type UnavailableReason = 'too-many-redirects' | 'redirect-loop' | 'disallowed-redirect';

/**
 * Response header fields that decide how long an answer lives and how it is asked for again, and those that explain
 * it. As they came; bounded in length by whoever read them.
 */
export interface AnswerHeaders {
  readonly cacheControl?: string;
  readonly expires?: string;
  readonly date?: string;
  readonly age?: string;
  readonly etag?: string;
  readonly lastModified?: string;
  readonly contentType?: string;
  readonly retryAfter?: string;
  /** Of a redirect that was not followed. */
  readonly location?: string;
}

/** The fields of {@link AnswerHeaders} that any answer can have, with their names in HTTP. */
export const ANSWER_FIELDS: readonly (readonly [
  key: Exclude<keyof AnswerHeaders, 'location'>,
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

/** A redirect that was followed. Shown, never decided by; its texts may be cut. */
export interface Redirect {
  /** What was requested. */
  readonly url: string;
  readonly status: number;
  /** The field as it came. */
  readonly location: string;
}

/** Where the last hop of an attempt led, and what it found there. */
export interface Route {
  /** URL of the last request, without fragment. */
  readonly finalUrl: string;
  /** Redirects followed: 0 when `<origin>/robots.txt` answered itself. */
  readonly hops: number;
  /** Those redirects, in order; absent when there were none. */
  readonly redirects?: readonly Redirect[];
  /** What the answer looks like, if not like a robots.txt. */
  readonly suspect?: Suspect;
}

export type Outcome =
  | (Route & {
      readonly kind: 'success';
      readonly status: number;
      readonly headers: AnswerHeaders;
      /** Decoded octets, at most the body limit, without the line that the limit cut. */
      readonly body: Uint8Array;
      /** Whether octets past the limit were left unread. */
      readonly truncated: boolean;
    })
  | (Route & { readonly kind: 'not-modified'; readonly status: 304; readonly headers: AnswerHeaders })
  | (Route & {
      readonly kind: 'unavailable';
      readonly status: number;
      readonly headers: AnswerHeaders;
      readonly reason?: UnavailableReason;
    })
  | (Route & { readonly kind: 'restricted'; readonly status: number; readonly headers: AnswerHeaders })
  | (Route & {
      readonly kind: 'unreachable';
      /** Absent when no response arrived. */
      readonly status?: number;
      /** A literal code: `ERR_ROBOTS_*`, or what Node or undici gave (`ENOTFOUND`, `UND_ERR_CONNECT_TIMEOUT`). */
      readonly error: string;
      /** Absent when no response arrived. */
      readonly headers?: AnswerHeaders;
      /** What `Retry-After` asked for, already read and clamped by `retryAfterMs()`. */
      readonly retryAfterMs?: number;
    });

/** The same answer, as it is for the origin that gave it. */
export function unredirected(outcome: Extract<Outcome, { readonly kind: 'success' }>): Outcome {
  const { kind, status, finalUrl, headers, body, truncated, suspect } = outcome;
  const answer = { kind, status, finalUrl, hops: 0, headers, body, truncated };
  return suspect === undefined ? answer : { ...answer, suspect };
}

/**
 * What a status of the last hop means under a profile: its exact code beats its class. Codes that no entry names
 * (1xx, a 304 nobody asked for, a redirect without a usable `Location`, 600 and above) are unreachable.
 *
 * RFC 9309 leaves them open; the draft before it said: "For other undefined status codes, the crawler
 * MUST assume the robots.txt is unreachable."
 */
export function meaningOfStatus(status: number, profile: Pick<Profile, 'status'>): StatusMeaning {
  return (
    own(profile.status, `${status}`) ?? own(profile.status, `${Math.floor(status / 100)}xx`) ?? 'unreachable'
  );
}

/** Profiles may come from JSON and code alike: what a prototype holds is no entry. */
function own(status: Profile['status'], key: string): StatusMeaning | undefined {
  return Object.hasOwn(status, key) ? status[key] : undefined;
}
