import type { Answer, Copy, Failure, OriginRecord } from './origin-record.ts';
import type { Profile, UnreachablePhase, UnreachableTreatment } from './profile.ts';

/** What is in force for an origin at the moment of the question. `unknown`: nothing was fetched yet. */
export type OriginState = 'rules' | 'last-good' | 'allow-all' | 'disallow-all' | 'unknown';

/** An {@link OriginState} with what it rests on. Closed: each state that opens a site is named, none is a default. */
export type KnownState =
  | { readonly state: 'rules'; readonly copy: Copy }
  | { readonly state: 'last-good'; readonly copy: Copy }
  | { readonly state: 'allow-all'; readonly reason: 'unavailable' | 'unreachable-expired' }
  | { readonly state: 'disallow-all'; readonly reason: 'unreachable'; readonly retryAt: number }
  | { readonly state: 'disallow-all'; readonly reason: 'restricted' }
  | { readonly state: 'unknown' };

/** Whether to ask the origin: not yet; beside the answer that is still in force; or before anything is answered. */
export type Due = 'none' | 'ahead' | 'now';

/** The share of a lifetime, at its end, in which it is renewed ahead. */
const AHEAD_SHARE = 0.1;

/**
 * What is in force at the moment of the question, by the clock alone: phases turn without an attempt.
 *
 * Past the lifetime of an answer nothing is known until the next attempt ends (`unknown`, and {@link attemptDue}
 * says `now`); if an attempt failed meanwhile, the outage applies, whether or not the next try is due.
 */
export function stateOf(record: OriginRecord | undefined, profile: Profile, now: number): KnownState {
  if (record === undefined) return { state: 'unknown' };
  const answer = answerInForce(record, now);
  if (answer !== undefined) return stateOfAnswer(answer, usableCopy(record, profile, now));
  if (record.failure !== undefined) return stateOfOutage(record, record.failure, profile, now);
  return { state: 'unknown' };
}

/**
 * Whether a question at `now` starts an attempt. A failed one ahead of time is not repeated per question: it has its
 * pause like any other.
 */
export function attemptDue(record: OriginRecord | undefined, profile: Profile, now: number): Due {
  if (record === undefined) return 'now';
  if (record.failure !== undefined && isPausing(record.failure, profile, now)) return 'none';
  const answer = answerInForce(record, now);
  if (answer === undefined) return 'now';
  return now >= refreshAheadAt(answer) ? 'ahead' : 'none';
}

/** Where the last tenth of the lifetime in force begins. */
export function refreshAheadAt({ fetchedAt, staleAt }: Pick<Answer, 'fetchedAt' | 'staleAt'>): number {
  return staleAt - (staleAt - fetchedAt) * AHEAD_SHARE;
}

/** A pause longer than any the profile makes was noted by a clock since set back: it could last for ever. */
function isPausing({ retryAt }: Failure, { backoff, retryAfter }: Profile, now: number): boolean {
  return now < retryAt && retryAt - now <= Math.max(backoff.maxMs, retryAfter.maxMs);
}

/**
 * The answer while it is fresh. RFC 9111 §4.2: "response_is_fresh = (freshness_lifetime > current_age)". One that
 * is ahead of the clock was noted by a clock since set back; how old it is cannot be told, so it does not count. Nor
 * does one revive that a failed attempt already found stale.
 */
function answerInForce({ answer, copy, failure }: OriginRecord, now: number): Answer | undefined {
  const latestMs = Math.max(now, failure?.at ?? now);
  if (answer === undefined || now < answer.fetchedAt || latestMs >= answer.staleAt) return undefined;
  // Rules without the file they are in: a record put together by someone else.
  return answer.kind === 'rules' && copy === undefined ? undefined : answer;
}

function stateOfAnswer(answer: Answer, copy: Copy | undefined): KnownState {
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
 * The copy, unless the origin has said since that it has none. Then it serves only for as long as the profile allows,
 * counted from the first such answer, whether or not the origin fails meanwhile.
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
  // The clock was at `failure.at` once. If it has been set back since, the stricter of the two times applies.
  const treated = now < failure.at ? stricter(treatmentAt(now), treatmentAt(failure.at)) : treatmentAt(now);
  if (treated === 'allow-all') return { state: 'allow-all', reason: 'unreachable-expired' };
  if (treated === 'last-good' && copy !== undefined) return { state: 'last-good', copy };
  return { state: 'disallow-all', reason: 'unreachable', retryAt: failure.retryAt };
}

function phaseAt(profile: Profile, elapsedMs: number): UnreachablePhase | undefined {
  return profile.whileUnreachable.find(({ untilMs }) => untilMs === null || elapsedMs < untilMs);
}

/**
 * Without a phase there is no permission. RFC 9309 §2.3.1.4: "the robots.txt file is undefined and the crawler MUST
 * assume complete disallow."
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
