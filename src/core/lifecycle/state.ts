import type { ConclusiveResponse, Copy, Failure, OriginRecord } from './origin-record.ts';
import type { Profile, UnreachablePhase, UnreachableTreatment } from './profile.ts';

/** Every {@link OriginState}. */
export const ORIGIN_STATES = ['rules', 'last-good', 'allow-all', 'disallow-all', 'unknown'] as const;
/** The state of an origin at a given time. `unknown`: no response and no failure is in force, so a fetch is needed. */
export type OriginState = (typeof ORIGIN_STATES)[number];

/** An {@link OriginState} with its reason. Each state that opens a site is listed; none is a default. */
export type KnownState =
  | { readonly state: 'rules'; readonly copy: Copy }
  | { readonly state: 'last-good'; readonly copy: Copy }
  | {
      readonly state: 'allow-all';
      readonly reason: 'unavailable' | 'unreachable-expired' | 'unreachable-allowed';
    }
  /** Without `retryAt` it is for good: see {@link isForGood}. */
  | { readonly state: 'disallow-all'; readonly reason: 'unreachable'; readonly retryAt?: number }
  | { readonly state: 'disallow-all'; readonly reason: 'restricted' }
  | { readonly state: 'unknown' };

/**
 * Whether a question starts an attempt: `none`, no; `ahead`, in the background while the response is still in force;
 * `now`, before the question is decided.
 */
export type AttemptDue = 'none' | 'ahead' | 'now';

/** The share at the end of a lifetime in which the response is refreshed ahead. */
const AHEAD_SHARE = 0.1;

/**
 * The state of an origin at `now`. It depends on the clock alone: phases end without an attempt.
 *
 * After the lifetime of a response the state is `unknown` until the next attempt ends, and {@link attemptDue} returns
 * `now`. If an attempt has failed meanwhile, the phases of the outage apply, even before `retryAt`.
 */
export function stateOf(record: OriginRecord | undefined, profile: Profile, now: number): KnownState {
  if (record === undefined) return { state: 'unknown' };
  const answer = responseInForce(record, now);
  if (answer !== undefined) return stateOfResponse(answer, usableCopy(record, profile, now));
  if (record.failure !== undefined) return stateOfOutage(record, record.failure, profile, now);
  return { state: 'unknown' };
}

/** Whether a question at `now` starts an attempt. A failed refresh ahead is not repeated before its `retryAt`. */
export function attemptDue(record: OriginRecord | undefined, profile: Profile, now: number): AttemptDue {
  if (record === undefined) return 'now';
  if (record.failure !== undefined && isPausing(record.failure, profile, now)) return 'none';
  const answer = responseInForce(record, now);
  if (answer === undefined) return 'now';
  // A page instead of the file is not to be renewed by itself.
  const isPage = answer.kind === 'rules' && record.copy?.suspect !== undefined;
  return !isPage && now >= refreshAheadAt(answer) ? 'ahead' : 'none';
}

/**
 * The time at which to read a record while its origin pauses, when robots.txt is not requested either: a response then
 * serves past its lifetime.
 */
export function timeInPause(record: OriginRecord, profile: Profile, now: number): number {
  const { answer } = record;
  const isStale = answer !== undefined && stateOf(record, profile, now).state === 'unknown';
  // After the clock was set back, `now` may lie before the response.
  return isStale ? Math.max(answer.fetchedAt, Math.min(now, answer.staleAt - 1)) : now;
}

/** Whether a record can serve while its origin pauses: a site signal alone cannot. */
export function canServe({ answer, failure }: OriginRecord): boolean {
  return answer !== undefined || failure !== undefined;
}

/** The start of the last tenth of a lifetime. */
export function refreshAheadAt({
  fetchedAt,
  staleAt,
}: Pick<ConclusiveResponse, 'fetchedAt' | 'staleAt'>): number {
  return staleAt - (staleAt - fetchedAt) * AHEAD_SHARE;
}

/**
 * Whether `retryAt` is still ahead. A pause longer than the profile allows was written before the clock was set back:
 * ignore it, or it would block retries for as long as the clock went back.
 */
function isPausing({ retryAt }: Failure, { robotsRetry, retryAfter }: Profile, now: number): boolean {
  return now < retryAt && retryAt - now <= Math.max(robotsRetry.maxMs, retryAfter.maxMs);
}

/**
 * The response while it is fresh. RFC 9111 §4.2: "response_is_fresh = (freshness_lifetime > current_age)".
 *
 * A response from the future was written before the clock was set back. Its age is unknown, so it does not count. A
 * response that was stale at the latest failure stays stale, even if the clock was set back.
 */
function responseInForce(
  { answer, copy, failure }: OriginRecord,
  now: number,
): ConclusiveResponse | undefined {
  const latestMs = Math.max(now, failure?.at ?? now);
  if (answer === undefined || now < answer.fetchedAt || latestMs >= answer.staleAt) return undefined;
  // Rules without a body: an inconsistent record from a store.
  return answer.kind === 'rules' && copy === undefined ? undefined : answer;
}

function stateOfResponse(answer: ConclusiveResponse, copy: Copy | undefined): KnownState {
  switch (answer.kind) {
    case 'rules':
      return copy === undefined ? { state: 'unknown' } : { state: 'rules', copy };
    case 'unavailable':
      return copy === undefined
        ? { state: 'allow-all', reason: 'unavailable' }
        : { state: 'last-good', copy };
    case 'restricted':
      return { state: 'disallow-all', reason: 'restricted' };
  }
}

/**
 * The copy, unless the origin has been `unavailable` for longer than the profile keeps it. The time counts from
 * the first such response, and goes on while the origin fails.
 */
function usableCopy({ answer, copy }: OriginRecord, profile: Profile, now: number): Copy | undefined {
  const isOver = answer?.kind === 'unavailable' && now - answer.since >= profile.keepCopyOnUnavailableMs;
  return isOver ? undefined : copy;
}

function stateOfOutage(record: OriginRecord, failure: Failure, profile: Profile, now: number): KnownState {
  const copy = usableCopy(record, profile, now);
  const siteReachable = record.site?.reachable === true;
  const treatmentAt = (time: number): UnreachableTreatment => {
    const hasCopy = usableCopy(record, profile, time) !== undefined;
    return treatment(phaseAt(profile, time - failure.since), hasCopy, siteReachable);
  };
  // The clock once showed `failure.at`. If it was set back since, the stricter of the two treatments applies.
  const treated = now < failure.at ? stricter(treatmentAt(now), treatmentAt(failure.at)) : treatmentAt(now);
  if (treated === 'allow-all') {
    // The profile of the caller may allow from the first failure on.
    const isAlways = treatmentAt(failure.since) === 'allow-all';
    return { state: 'allow-all', reason: isAlways ? 'unreachable-allowed' : 'unreachable-expired' };
  }
  if (treated === 'last-good' && copy !== undefined) return { state: 'last-good', copy };
  const disallowed = { state: 'disallow-all', reason: 'unreachable' } as const;
  return isForGood(record) ? disallowed : { ...disallowed, retryAt: failure.retryAt };
}

/** Whether the address policy refused the address. It would refuse it again. */
export function isAddressRefused({ error }: { readonly error?: string | undefined }): boolean {
  return error === 'ERR_ROBOTS_ADDRESS_REFUSED';
}

/**
 * Whether waiting for the site makes no sense: the address policy refuses its address, or it is dead, so that one further try
 * failed like the first. Others are busy or broken. A later question may find that a dead site has come to life.
 */
export function isForGood({ failure, site }: OriginRecord): boolean {
  if (failure === undefined) return false;
  return (
    isAddressRefused(failure) || (failure.dead === true && failure.attempts > 1 && site?.reachable !== true)
  );
}

function phaseAt(profile: Profile, elapsedMs: number): UnreachablePhase | undefined {
  return profile.whileUnreachable.find(({ untilMs }) => untilMs === null || elapsedMs < untilMs);
}

/**
 * The treatment in a phase. Without a phase everything is disallowed. RFC 9309 §2.3.1.4: "the robots.txt file is
 * undefined and the crawler MUST assume complete disallow."
 */
function treatment(
  phase: UnreachablePhase | undefined,
  hasCopy: boolean,
  siteReachable: boolean,
): UnreachableTreatment {
  if (phase === undefined) return 'disallow-all';
  if (siteReachable && phase.whenSiteReachable !== undefined) return phase.whenSiteReachable;
  return hasCopy ? phase.withCopy : phase.withoutCopy;
}

const STRICTEST_FIRST: readonly UnreachableTreatment[] = ['disallow-all', 'last-good', 'allow-all'];

function stricter(one: UnreachableTreatment, other: UnreachableTreatment): UnreachableTreatment {
  return STRICTEST_FIRST.indexOf(one) <= STRICTEST_FIRST.indexOf(other) ? one : other;
}
