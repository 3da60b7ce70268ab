/** The public surface of `canfetch`: exports only. */
export {
  type RobotsResponseHeaders,
  type Failure,
  type Freshness,
  type RecordFault,
  type OriginState,
  type Outcome,
  type Profile,
  type ProfileName,
  profiles,
  type Redirect,
  type StatedLifetime,
  type StatusClass,
  type Suspect,
  type UnavailableReason,
  type UnreachablePhase,
  type UnreachableTreatment,
  type Gatekeeper,
} from './core/lifecycle/index.ts';
export type { Agent } from './core/decision/agent-tokens.ts';
export {
  canFetch,
  type CheckOptions,
  type OriginOverride,
  type PolicyOptions,
  type PrefetchOptions,
  type PrefetchResult,
  type PurposeOptions,
  type CheckMessage,
  type PermitMessage,
  type ReserveOptions,
  RobotsClient,
  type RobotsClientOptions,
  type RobotsStats,
  type SiteSignal,
} from './core/client/index.ts';
export {
  type CrawlReportData,
  type ReportedOrigin,
  type ReportedRefusal,
  type ReportedRefusals,
  type ReportedSlowness,
  type CrawlTotals,
  type CrawlReport,
  crawlReport,
  type CrawlReportOptions,
} from './extras/report/crawl-report.ts';
export {
  type ClientMessage,
  type Clock,
  type HeaderFields,
  isRobotsError,
  RobotsAddressRefusedError,
  RobotsClosedError,
  RobotsError,
  type RobotsErrorCode,
  RobotsInvalidOptionsError,
  RobotsInvalidUrlError,
} from './core/base/index.ts';
export type { Rejection } from './core/store/record-codec.ts';
export type {
  RobotsStore,
  StoreEvent,
  StoreMessage,
  PauseCause,
  StoreLease,
  StorePause,
  StoreSetOptions,
  StoreOperation,
  StoreReserveOptions,
  StoreSlot,
} from './core/store/store.ts';
export type { CacheMessage, PolicyChangeMessage } from './core/cache/cache-events.ts';
export type {
  BodyMessage,
  Decision,
  DecisionMessage,
  DecisionUsage,
  DeferralMessage,
  OriginPacing,
  PauseMessage,
  IgnoredMessage,
  OriginPolicy,
  Pause,
  PolicyAttempt,
  PolicyFile,
  PolicySitemap,
  PolicyHop,
  PolicyLifetime,
  PolicyNextAttempt,
  Purpose,
  RedirectChain,
  RequestMessage,
  UsageRefusalMessage,
  RobotsSource,
} from './core/decision/index.ts';
export {
  type Refusal,
  refusalOrAddressIn as refusalIn,
  RobotsDisallowedError,
  RobotsUnreachableError,
  RobotsUsageError,
} from './core/client/refusal-errors.ts';
export { retryAtOf, type SiteWait } from './guards/shared/not-now.ts';
export type { GuardOptions, IgnoreReason, PaymentRequired, RobotsInit } from './guards/shared/options.ts';
export { retryLater, type RetryLaterOptions } from './guards/shared/retry-later.ts';
export { guardFetch, type GuardFetchOptions } from './guards/fetch/fetch.ts';
export {
  type BackOffOptions,
  type DelayFrom,
  type PacingOptions,
  type PacingScope,
  type SitePacing,
  type PageResponse,
  type Reservation,
  RobotsDeferredError,
  type RequestPermit,
  type PacingTotals,
} from './core/pacing/index.ts';
export { originOf, targetOf } from './core/url/index.ts';
export type { AddressPolicy } from './core/net/address-policy.ts';
export type {
  AttemptMessage,
  FetchedBody,
  FetchedResponse,
  FetchFunction,
  FetchMessage,
  RobotsRequestMessage,
} from './core/fetch/index.ts';
export type { DispatcherLike } from './core/fetch/transport.ts';
export { describeDecision } from './core/decision/index.ts';
export { describeDiagnostic, type DiagnosticDescription } from './core/rules/lint/findings.ts';
export type { Diagnostic, DiagnosticCode, Severity } from './core/rules/index.ts';
