import { CLOCK_SKEW_MS, latestTime } from './record-times.ts';
import type { Answer, Copy, Failure, OriginRecord } from './origin-record.ts';
import { meaningOfStatus, type UnavailableReason } from './outcome.ts';
import type { Profile } from './profile.ts';
import { isGatekeeper, type Suspect } from './challenge-pages.ts';

/**
 * Why a record that was made elsewhere is not taken: it is ahead of the clock; it claims to hold for longer than the
 * profile lets anything hold; the profile reads its statuses in another way; or its parts contradict each other.
 */
export type Objection = 'future' | 'lifetime' | 'profile' | 'inconsistent';

/**
 * What speaks against a record by someone else: another process, which may go by another profile, an older version,
 * or a store that is not what it was. What it says of itself is held against what `profile` would have made of the
 * same answer, so that nothing opens a site here that our own attempt would not have opened.
 *
 * It is lifetimes that are bounded, not ages: a copy of last year serves if the profile says so.
 */
export function objection(record: OriginRecord, profile: Profile, now: number): Objection | undefined {
  const { answer, copy, failure } = record;
  if (latestTime(record) > now + CLOCK_SKEW_MS) return 'future';
  return (
    (answer === undefined ? undefined : objectionToAnswer(answer, copy, profile)) ??
    (copy === undefined ? undefined : objectionToCopy(copy, answer, profile)) ??
    (failure === undefined ? undefined : objectionToFailure(failure, profile))
  );
}

function objectionToAnswer(answer: Answer, copy: Copy | undefined, profile: Profile): Objection | undefined {
  if (answer.staleAt - answer.fetchedAt > profile.lifetime.maxMs) return 'lifetime';
  if (answer.kind === 'rules' && copy === undefined) return 'inconsistent';
  if (isNoAnswer(answer.suspect, profile)) return 'profile';
  if (answer.kind === 'unavailable') {
    if (answer.since > answer.fetchedAt) return 'inconsistent';
    if (answer.reason !== undefined) return opensRedirects(answer.reason, profile) ? undefined : 'profile';
  }
  const isOurs =
    meaningOfStatus(answer.status, profile) === answer.kind && answer.hops <= profile.maxRedirects;
  return isOurs ? undefined : 'profile';
}

function objectionToCopy(copy: Copy, answer: Answer | undefined, profile: Profile): Objection | undefined {
  if (copy.fetchedAt > (answer?.fetchedAt ?? Infinity)) return 'inconsistent';
  if (isNoAnswer(copy.suspect, profile)) return 'profile';
  const isOurs = meaningOfStatus(copy.status, profile) === 'rules' && copy.hops <= profile.maxRedirects;
  return isOurs ? undefined : 'profile';
}

function objectionToFailure(failure: Failure, profile: Profile): Objection | undefined {
  const { since, at, retryAt, status, error } = failure;
  if (since > at) return 'inconsistent';
  if (retryAt - at > Math.max(profile.backoff.maxMs, profile.retryAfter.maxMs)) return 'lifetime';
  if (error === 'ERR_ROBOTS_CHALLENGE' && profile.challenge === 'as-status') return 'profile';
  // Whatever else broke is a failure under every profile.
  const isStatus = error === 'ERR_ROBOTS_STATUS' && status !== undefined;
  return isStatus && meaningOfStatus(status, profile) !== 'unreachable' ? 'profile' : undefined;
}

function isNoAnswer(suspect: Suspect | undefined, { challenge }: Profile): boolean {
  return challenge === 'unreachable' && isGatekeeper(suspect);
}

function opensRedirects(
  reason: UnavailableReason,
  { tooManyRedirects, disallowedRedirect }: Profile,
): boolean {
  return (reason === 'disallowed-redirect' ? disallowedRedirect : tooManyRedirects) === 'unavailable';
}
