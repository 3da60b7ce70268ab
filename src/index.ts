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
} from './access/index.ts';
export type { Agent } from './agent-tokens.ts';
export { canFetch } from './can-fetch.ts';
export type { CheckOptions, PolicyOptions, ReserveOptions, RobotsStats, SiteSignal } from './client-types.ts';
export { RobotsClient } from './client.ts';
export type { Clock } from './clock.ts';
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
export type { Decision } from './decision.ts';
export {
  isRobotsError,
  RobotsAddressRefusedError,
  RobotsClosedError,
  RobotsError,
  type RobotsErrorCode,
  RobotsInvalidOptionsError,
  RobotsInvalidUrlError,
} from './errors.ts';
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
export { originOf, targetOf } from './origin.ts';
export type { AddressPolicy, FetchedBody, FetchedResponse, FetchFunction } from './fetch/index.ts';
export type { OriginOverride, RobotsClientOptions } from './options.ts';
export type {
  OriginPolicy,
  PolicyAttempt,
  PolicyFile,
  PolicyHop,
  PolicyLifetime,
  PolicyNextAttempt,
  ProfileOutlook,
} from './policy.ts';
export type { PrefetchOptions, PrefetchResult } from './prefetch.ts';
export { describeDiagnostic, type DiagnosticDescription } from './rules/describe-diagnostic.ts';
export type { Diagnostic, DiagnosticCode, Severity } from './rules/index.ts';
export type { CacheMessage, DecisionMessage, FetchMessage, PolicyChangeMessage } from './diagnostics.ts';
