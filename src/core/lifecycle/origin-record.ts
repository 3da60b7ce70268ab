import type { RobotsResponseHeaders, Redirect, ThrownDetails, UnavailableReason } from './outcome.ts';
import type { Suspect } from './challenge-pages.ts';
import type { Profile } from './profile.ts';

/**
 * Everything stored about one origin. Plain data, so that a store can write it and read it back. All times are epoch
 * milliseconds. The state also depends on the profile and the time: see `stateOf()`.
 */
export interface OriginRecord {
  /** Scheme, host and port, as `URL.origin` serialises them (`https://example.com`). */
  readonly origin: string;
  /** The last conclusive response. Absent when no attempt has had one. */
  readonly answer?: ConclusiveResponse;
  /**
   * The last good copy of the file. While `answer.kind` is `rules` it is the file in force. Otherwise it is kept only
   * while the profile can still use it.
   */
  readonly copy?: Copy;
  /** Present from the first failed attempt until the next conclusive response. */
  readonly failure?: Failure;
  /** The last signal about the rest of the site, from `report()` or from a guarded page request. */
  readonly site?: { readonly reachable: boolean; readonly at: number };
}

interface MayBeSuspect {
  /** Set when the response does not look like a robots.txt, or not like a response of the site. */
  readonly suspect?: Suspect;
}

/** Details of an attempt for reports. No decision depends on them, and a store may drop them. */
interface AttemptDetails {
  /** Absent when there were no redirects. */
  readonly redirects?: readonly Redirect[];
  /** Fields of the last response. Absent when no response arrived, or when it had none of these fields. */
  readonly headers?: RobotsResponseHeaders;
}

interface ConclusiveResponseBase extends AttemptDetails, MayBeSuspect {
  /** Status of the last response. */
  readonly status: number;
  readonly finalUrl: string;
  readonly hops: number;
  /** The time at which the response arrived, or was last confirmed by a 304. */
  readonly fetchedAt: number;
  /** The time from which a question waits for a new response. */
  readonly staleAt: number;
}

export type ConclusiveResponse =
  | (ConclusiveResponseBase & {
      readonly kind: 'rules';
      /** Set when a 304 confirmed the copy. `status` is then the status of the copy. */
      readonly notModified?: true;
    })
  | (ConclusiveResponseBase & {
      readonly kind: 'unavailable';
      readonly reason?: UnavailableReason;
      /** The first of the consecutive `unavailable` responses. `keepCopyOnUnavailableMs` counts from here. */
      readonly since: number;
    })
  | (ConclusiveResponseBase & { readonly kind: 'restricted' });

/** A robots.txt body, with the validators to revalidate it. */
export interface Copy extends MayBeSuspect {
  readonly body: Uint8Array;
  /** SHA-256 of `body`, in hex. Absent where the transport or the store gave none. */
  readonly sha256?: string;
  readonly truncated: boolean;
  readonly status: number;
  readonly finalUrl: string;
  readonly hops: number;
  /** The time at which this body arrived, or was last confirmed. */
  readonly fetchedAt: number;
  /** Validators are sent to `finalUrl` only. */
  readonly etag?: string;
  readonly lastModified?: string;
  readonly contentType?: string;
}

export interface Failure extends AttemptDetails, MayBeSuspect, ThrownDetails {
  /** The first of the consecutive failures. The phases of a profile count from here. */
  readonly since: number;
  /** The latest failure. */
  readonly at: number;
  /** Number of consecutive failures, at least 1. */
  readonly attempts: number;
  /** A question at or after this time starts the next attempt. */
  readonly retryAt: number;
  /** The pause from `Retry-After`, when `retryAt` was computed from it. */
  readonly retryAfterMs?: number;
  /** Set while the site never responded, and each failure was that of a site which is not there: see `isAbsent`. */
  readonly dead?: true;
  readonly status?: number;
  readonly error: string;
  readonly finalUrl: string;
  readonly hops: number;
}

/** The time of the latest attempt in the record; -Infinity when there is none. */
export function recordedAt({ answer, failure }: OriginRecord): number {
  return Math.max(answer?.fetchedAt ?? -Infinity, failure?.at ?? -Infinity);
}

/**
 * Merges two records of one origin: the record of the later attempt, with the later of the two site signals. Site
 * signals are written independently of attempts. When both attempts are equally late, `one` wins.
 */
export function mergeRecords(one: OriginRecord, other: OriginRecord | undefined): OriginRecord {
  if (other === undefined) return one;
  const record = recordedAt(other) > recordedAt(one) ? other : one;
  const site = (other.site?.at ?? -Infinity) > (one.site?.at ?? -Infinity) ? other.site : one.site;
  return site === undefined || site === record.site ? record : { ...record, site };
}

/** The pause after `attempts` failures in a row. */
export function backoffMs(attempts: number, { robotsRetry }: Profile): number {
  return Math.min(robotsRetry.initialMs * 2 ** (attempts - 1), robotsRetry.maxMs);
}

/**
 * The record after the clock was set back to before a failure: the pause starts again at `now`, and all other times are
 * kept. The length of the failure is then unknown, so {@link stateOf} applies the stricter of the two treatments.
 */
export function restartBackoff(record: OriginRecord, profile: Profile, now: number): OriginRecord {
  const { failure } = record;
  if (failure === undefined || now >= failure.at) return record;
  const retryAt = now + (failure.retryAfterMs ?? backoffMs(failure.attempts, profile));
  return retryAt >= failure.retryAt ? record : { ...record, failure: { ...failure, retryAt } };
}

/** Records whether the rest of the site is reachable. The last signal wins. */
export function withSiteSignal(
  record: OriginRecord | undefined,
  origin: string,
  reachable: boolean,
  now: number,
): OriginRecord {
  return { ...record, origin, site: { reachable, at: now } };
}
