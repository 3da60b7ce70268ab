/**
 * `Decision` and `OriginPolicy`: their types, and the only code that makes them. It imports `rules/` and
 * `lifecycle/`, nothing above, and starts no I/O.
 */
export { decide, decideByOverride, decideUnknown, type OverriddenOrigin, permits } from './decide.ts';
export {
  decisionChannels,
  type DecisionContext,
  type DecisionMessage,
  type DeferralMessage,
  type PauseMessage,
  type IgnoredMessage,
  type PaymentMessage,
  type RequestMessage,
  type OwnDelays,
  type SentRequest,
  type UsageRefusalMessage,
} from './channels.ts';
export { KnownOrigin } from './known-origin.ts';
export { type Decision, type DecisionUsage, isPurpose, type Purpose, PURPOSES, REASONS } from './decision.ts';
export { profileOrName, wholeProfile } from './profile-check.ts';
export { redirectChainPrefix, RefusedRequestError, type RedirectChain } from './refused-request-error.ts';
export { usageOf } from './usage-decision.ts';
export type {
  DelayFrom,
  OriginPacing,
  OriginPolicy,
  Pause,
  PolicyAttempt,
  PolicyFile,
  PolicySitemap,
  PolicyHop,
  PolicyLifetime,
  PolicyNextAttempt,
  ProfileState,
} from './policy.ts';
