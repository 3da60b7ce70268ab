/** The public surface of `canfetch`: exports only. */
export {
  type AnswerHeaders,
  type Failure,
  type Freshness,
  type Objection,
  type OriginState,
  type Outcome,
  type Outlook,
  type Profile,
  type ProfileName,
  profiles,
  type Redirect,
  type StatedLifetime,
  type StatusMeaning,
  type Suspect,
  type UnavailableReason,
  type UnreachablePhase,
  type UnreachableTreatment,
} from './lifecycle/index.ts';
export type { Agent } from './rules/agent-tokens.ts';
export { canFetch } from './client/can-fetch.ts';
export type { CheckOptions, PolicyOptions, ReserveOptions, RobotsStats, SiteSignal } from './client/types.ts';
export { RobotsClient } from './client/robots-client.ts';
export type { Clock } from './base/clock.ts';
export type {
  Rejection,
  RestoreOptions,
  RestoreRejection,
  RestoreResult,
  RobotsSource,
  RobotsStore,
  StoreCalls,
  StoreEvent,
  StoreLease,
  StoreOperation,
} from './cache/index.ts';
export type { Decision } from './decision/decision.ts';
export {
  isRobotsError,
  RobotsAddressRefusedError,
  RobotsClosedError,
  RobotsError,
  type RobotsErrorCode,
  RobotsInvalidOptionsError,
  RobotsInvalidUrlError,
} from './base/errors.ts';
export {
  type GuardClient,
  guardFetch,
  type GuardFetchOptions,
  type GuardOptions,
  type IgnoredRequest,
  type PacingOptions,
  type Refusal,
  refusalIn,
  type Reservation,
  RobotsDeferredError,
  RobotsDisallowedError,
  type RobotsInit,
  RobotsUndecidedError,
  RobotsUnreachableError,
} from './guard/index.ts';
export { originOf, targetOf } from './url/origin.ts';
export type { AddressPolicy, FetchedBody, FetchedResponse, FetchFunction } from './fetch/index.ts';
export type { OriginOverride, RobotsClientOptions } from './client/options.ts';
export type {
  OriginPolicy,
  PolicyAttempt,
  PolicyFile,
  PolicyHop,
  PolicyLifetime,
  PolicyNextAttempt,
  ProfileOutlook,
} from './decision/policy.ts';
export type { PrefetchOptions, PrefetchResult } from './client/prefetch.ts';
export { describeDiagnostic, type DiagnosticDescription } from './rules/lint/describe-diagnostic.ts';
export type { Diagnostic, DiagnosticCode, Severity } from './rules/index.ts';
export type {
  CacheMessage,
  DecisionMessage,
  FetchMessage,
  PolicyChangeMessage,
} from './client/diagnostics.ts';
