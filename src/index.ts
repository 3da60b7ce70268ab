/** The public surface of `canfetch`: exports only. */
export {
  type AnswerHeaders,
  type Failure,
  type Freshness,
  type RecordFault,
  type OriginState,
  type Outcome,
  type StateUnderProfile,
  type Profile,
  type ProfileName,
  profiles,
  type Redirect,
  type RobotsSource,
  type StatedLifetime,
  type StatusMeaning,
  type Suspect,
  type UnavailableReason,
  type UnreachablePhase,
  type UnreachableTreatment,
} from './lifecycle/index.ts';
export type { Agent } from './rules/agent-tokens.ts';
export {
  type AccountedOrigin,
  type AccountedRefusal,
  type AccountedSuspect,
  type AccountTotals,
  canFetch,
  type CheckOptions,
  type FetchMessage,
  type OriginOverride,
  type PolicyOptions,
  type PrefetchOptions,
  type PrefetchResult,
  type PurposeOptions,
  type ReserveOptions,
  type RobotsAccount,
  robotsAccount,
  type RobotsAccountOptions,
  RobotsClient,
  type RobotsClientOptions,
  type RobotsStats,
  type SiteSignal,
} from './client/index.ts';
export {
  type Clock,
  isRobotsError,
  RobotsAddressRefusedError,
  RobotsClosedError,
  RobotsError,
  type RobotsErrorCode,
  RobotsInvalidOptionsError,
  RobotsInvalidUrlError,
} from './base/index.ts';
export type {
  Rejection,
  RobotsStore,
  StoreCalls,
  StoreEvent,
  StoreLease,
  StoreLeaseOptions,
  StoreSetOptions,
  StoreOperation,
} from './store/index.ts';
export type {
  CacheMessage,
  PolicyChangeMessage,
  RestoreOptions,
  RestoreRejection,
  RestoreResult,
} from './cache/index.ts';
export type {
  Decision,
  DecisionMessage,
  DecisionUsage,
  DeferralMessage,
  PauseMessage,
  IgnoredMessage,
  OriginPolicy,
  PolicyAttempt,
  PolicyFile,
  PolicyHop,
  PolicyLifetime,
  PolicyNextAttempt,
  ProfileState,
  Purpose,
  PaymentMessage,
  UsageRefusalMessage,
} from './decision/index.ts';
export {
  type GuardClient,
  guardFetch,
  type GuardFetchOptions,
  type GuardOptions,
  type IgnoredRequest,
  type Refusal,
  refusalIn,
  RobotsDisallowedError,
  type OtherIdentity,
  type RobotsInit,
  RobotsUndecidedError,
  RobotsUnreachableError,
  RobotsUsageError,
} from './guard/index.ts';
export {
  type BackOffOptions,
  type DelayFrom,
  type PacingOptions,
  type PageAnswer,
  type Pause,
  type Reservation,
  RobotsDeferredError,
  type TakenSlot,
} from './pacing/index.ts';
export { originOf, targetOf } from './url/index.ts';
export type { AddressPolicy } from './net/address-policy.ts';
export type { FetchedBody, FetchedResponse, FetchFunction } from './fetch/index.ts';
export { describeDiagnostic, type DiagnosticDescription } from './rules/lint/describe-diagnostic.ts';
export type { Diagnostic, DiagnosticCode, Severity } from './rules/index.ts';
