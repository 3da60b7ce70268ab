/* A file of its own: only stores load it, and the marks of challenge pages with it. */
import { type ConclusiveResponse, type Copy, type Failure, type OriginRecord } from './origin-record.ts';
import { classifyStatus, type UnavailableReason } from './outcome.ts';
import type { Profile } from './profile.ts';
import { CLOCK_SKEW_MS, latestTime } from './record-times.ts';
import { isBotChallenge, type Suspect } from './challenge-pages.ts';

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
