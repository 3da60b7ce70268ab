/* Records that other processes made: their faults and times. A file of its own, because only stores load it. */
import type { ConclusiveResponse, Copy, Failure, OriginRecord } from './origin-record.ts';
import { classifyStatus, type UnavailableReason } from './outcome.ts';
import type { Profile } from './profile.ts';
import { isBotChallenge, type Suspect } from './challenge-pages.ts';
import { omitUndefined } from '../base/index.ts';

/**
 * The reason to reject a record that was made elsewhere.
 *
 * - `future`: it has times ahead of our clock.
 * - `lifetime`: its lifetime or its pause is longer than the profile allows.
 * - `profile`: the profile reads its statuses or redirects differently.
 * - `inconsistent`: its parts contradict each other.
 */
export type RecordFault = 'future' | 'lifetime' | 'profile' | 'inconsistent';

/**
 * Checks a record made elsewhere: by another process, which may have another profile; by an older version; or in a
 * store that was tampered with. The record is compared with what `profile` would have made of the same response, so
 * that no record opens a site that an attempt of our own would not have opened.
 *
 * Lifetimes are bounded, ages are not: a copy of last year serves if the profile says so.
 *
 * @returns the first fault; `undefined` for a record that can be used.
 */
export function validateRecord(record: OriginRecord, profile: Profile, now: number): RecordFault | undefined {
  const { answer, copy, failure } = record;
  if (latestTime(record) > now + CLOCK_SKEW_MS) return 'future';
  return (
    (answer === undefined ? undefined : faultInResponse(answer, copy, profile)) ??
    (copy === undefined ? undefined : faultInCopy(copy, answer, profile)) ??
    (failure === undefined ? undefined : faultInFailure(failure, profile))
  );
}

function faultInResponse(
  answer: ConclusiveResponse,
  copy: Copy | undefined,
  profile: Profile,
): RecordFault | undefined {
  if (answer.staleAt - answer.fetchedAt > profile.lifetime.maxMs) return 'lifetime';
  if (answer.kind === 'rules' && copy === undefined) return 'inconsistent';
  if (isRefusedGatekeeper(answer.suspect, profile)) return 'profile';
  if (answer.kind === 'unavailable') {
    if (answer.since > answer.fetchedAt) return 'inconsistent';
    if (answer.reason !== undefined) return opensRedirects(answer.reason, profile) ? undefined : 'profile';
  }
  const isOurs =
    classifyStatus(answer.status, profile) === answer.kind && answer.hops <= profile.maxRedirects;
  return isOurs ? undefined : 'profile';
}

function faultInCopy(
  copy: Copy,
  answer: ConclusiveResponse | undefined,
  profile: Profile,
): RecordFault | undefined {
  if (copy.fetchedAt > (answer?.fetchedAt ?? Infinity)) return 'inconsistent';
  if (isRefusedGatekeeper(copy.suspect, profile)) return 'profile';
  const isOurs = classifyStatus(copy.status, profile) === 'rules' && copy.hops <= profile.maxRedirects;
  return isOurs ? undefined : 'profile';
}

function faultInFailure(failure: Failure, profile: Profile): RecordFault | undefined {
  const { since, at, retryAt, status, error } = failure;
  if (since > at) return 'inconsistent';
  if (retryAt - at > Math.max(profile.robotsRetry.maxMs, profile.retryAfter.maxMs)) return 'lifetime';
  if (error === 'ERR_ROBOTS_CHALLENGE' && profile.challenge === 'as-status') return 'profile';
  // All other errors are failures under every profile.
  const isStatus = error === 'ERR_ROBOTS_STATUS' && status !== undefined;
  return isStatus && classifyStatus(status, profile) !== 'unreachable' ? 'profile' : undefined;
}

function isRefusedGatekeeper(suspect: Suspect | undefined, { challenge }: Profile): boolean {
  return challenge === 'unreachable' && isBotChallenge(suspect);
}

function opensRedirects(
  reason: UnavailableReason,
  { tooManyRedirects, disallowedRedirect }: Profile,
): boolean {
  return (reason === 'disallowed-redirect' ? disallowedRedirect : tooManyRedirects) === 'unavailable';
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
