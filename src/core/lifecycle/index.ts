/**
 * The meaning of a response to `GET /robots.txt`, over time. Pure: time and randomness are numbers, and records
 * are plain data, so that a test of a month of outages takes a millisecond.
 *
 * It must not import Node, a library, or another module. Exceptions: the type `Dialect` and the path `/robots.txt`.
 */
export {
  isBotChallenge,
  mayBeChallenge,
  type Suspect,
  SUSPECTS,
  SUSPECT_BYTES,
  detectSuspect,
} from './challenge-pages.ts';
export {
  asksForPause,
  fieldLines,
  type Freshness,
  freshness,
  type HeaderFields,
  retryAfterMs,
  type StatedLifetime,
} from './freshness.ts';
export { type EndedAttempt, JITTER_SHARE, nextRecord } from './next-record.ts';
export type { ConclusiveResponse, Copy, Failure, OriginRecord } from './origin-record.ts';
export {
  RESPONSE_FIELDS,
  type RobotsResponseHeaders,
  classifyStatus,
  type Outcome,
  type Redirect,
  type Route,
  type UnavailableReason,
  withoutRedirects,
} from './outcome.ts';
export {
  type Profile,
  type ProfileName,
  profileNames,
  profiles,
  type StatusClass,
  type UnreachablePhase,
  type UnreachableTreatment,
} from './profile.ts';
export {
  shiftBack,
  mergeRecords,
  clampToNow,
  recordedAt,
  retentionMs,
  restartBackoff,
  withSiteSignal,
} from './record-times.ts';
export { ROBOTS_SOURCES, type RobotsSource, sourceOf } from './robots-source.ts';
export {
  attemptDue,
  canServe,
  timeInPause,
  type AttemptDue,
  ORIGIN_STATES,
  type OriginState,
  refreshAheadAt,
  stateOf,
  type KnownState,
} from './state.ts';
export {
  reinterpretLatest,
  type StateUnderProfile,
  stateUnderProfile,
  summarizeState,
} from './under-profile.ts';
export { type RecordFault, validateRecord } from './validate-record.ts';
