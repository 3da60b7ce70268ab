/**
 * What an answer to `GET /robots.txt` means, and for how long. Pure: time and chance come in as numbers, what is
 * known goes in and out as plain data, so that a month of outages is tested in a millisecond.
 *
 * Nothing here may import Node, a library, or another room; the one exception is the type `Dialect`.
 */
export { CLOCK_SKEW_MS, noLaterThan } from './record-times.ts';
export { freshness, retryAfterMs } from './freshness.ts';
export type { Freshness, StatedLifetime } from './freshness.ts';
export { parseHttpDate } from './http-date.ts';
export { newest, recordedAt } from './record-times.ts';
export { objection } from './validate-record.ts';
export type { Objection } from './validate-record.ts';
export type { Answer, Copy, Failure, OriginRecord } from './origin-record.ts';
export { meaningOfStatus, unredirected } from './outcome.ts';
export type { AnswerHeaders, Outcome, Redirect, UnavailableReason } from './outcome.ts';
export { outlook, withoutParticulars } from './under-profile.ts';
export type { Outlook } from './under-profile.ts';
export { profileNames, profiles } from './profile.ts';
export type {
  Profile,
  ProfileName,
  StatusMeaning,
  UnreachablePhase,
  UnreachableTreatment,
} from './profile.ts';
export { retentionMs } from './record-times.ts';
export { attemptDue, refreshAheadAt, standing } from './state.ts';
export type { Due, OriginState, Standing } from './state.ts';
export type { Suspect } from './challenge-pages.ts';
export { JITTER_SHARE, nextRecord, withSiteSignal } from './next-record.ts';
