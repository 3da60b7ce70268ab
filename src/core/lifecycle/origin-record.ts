import { omitUndefined } from '../base/index.ts';
import type { RobotsResponseHeaders, Redirect, UnavailableReason } from './outcome.ts';
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

export interface Failure extends AttemptDetails, MayBeSuspect {
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
  readonly status?: number;
  readonly error: string;
  readonly finalUrl: string;
  readonly hops: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** A record that can serve indefinitely is kept for this long after the latest attempt. */
const ENDLESS_RETENTION_MS = 30 * DAY_MS;

/** Upper bound, for profiles with very long phases. */
const MAX_MS = 10 * 365 * DAY_MS;

/**
 * The time for which a record stays useful, in ms from `now`; 0 when it is already useless.
 *
 * A copy and the start of an outage are kept longer than the response: the site may fail at any later time, and the
 * phases of the profile count from there. A response without a file is useless once it is stale.
 */
export function retentionMs(record: OriginRecord, profile: Profile, now: number): number {
  const { answer, copy, failure, site } = record;
  const heldUntil = Math.max(answer?.staleAt ?? -Infinity, failure?.retryAt ?? -Infinity);
  const outlasts = copy !== undefined || failure !== undefined;
  const untilMs = outlasts ? heldUntil - now + lastPhaseMs(profile) + ENDLESS_RETENTION_MS : heldUntil - now;
  const siteMs = site === undefined ? 0 : site.at + ENDLESS_RETENTION_MS - now;
  return Math.ceil(Math.min(Math.max(untilMs, siteMs, 0), MAX_MS));
}

/** The start of the last phase of an outage. */
function lastPhaseMs({ whileUnreachable }: Profile): number {
  return Math.max(0, ...whileUnreachable.map(({ untilMs }) => untilMs ?? 0));
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

/**
 * Tolerated difference between the clocks of a fleet. If it is larger, processes whose clock is late refuse the records of
 * the others and request each robots.txt again.
 */
export const CLOCK_SKEW_MS = 120_000;

/** The latest time in the record. */
export function latestTime({ answer, copy, failure, site }: OriginRecord): number {
  return Math.max(
    answer?.fetchedAt ?? -Infinity,
    answer?.kind === 'unavailable' ? answer.since : -Infinity,
    copy?.fetchedAt ?? -Infinity,
    failure?.at ?? -Infinity,
    site?.at ?? -Infinity,
  );
}

/**
 * Moves all times of a record from a clock ahead of ours back by the same amount, so that the latest is `now`. The
 * record is usable at once, and its lifetime is neither longer nor shorter.
 */
export function clampToNow(record: OriginRecord, now: number): OriginRecord {
  return shiftBack(record, Math.max(0, latestTime(record) - now));
}

/** The record with all its times moved back by `byMs`; forward if negative. */
export function shiftBack(record: OriginRecord, byMs: number): OriginRecord {
  if (byMs === 0) return record;
  const { answer, copy, failure, site } = record;
  return {
    ...record,
    ...omitUndefined({
      answer: answer && shiftResponseBack(answer, byMs),
      copy: copy && { ...copy, fetchedAt: copy.fetchedAt - byMs },
      failure: failure && shiftFailureBack(failure, byMs),
      site: site && { ...site, at: site.at - byMs },
    }),
  };
}

function shiftResponseBack(answer: ConclusiveResponse, byMs: number): ConclusiveResponse {
  const times = { fetchedAt: answer.fetchedAt - byMs, staleAt: answer.staleAt - byMs };
  return answer.kind === 'unavailable'
    ? { ...answer, ...times, since: answer.since - byMs }
    : { ...answer, ...times };
}

function shiftFailureBack(failure: Failure, byMs: number): Failure {
  const { since, at, retryAt } = failure;
  return { ...failure, since: since - byMs, at: at - byMs, retryAt: retryAt - byMs };
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
