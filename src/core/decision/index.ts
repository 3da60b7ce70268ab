/**
 * `Decision` and `OriginPolicy`: their types, and the only code that makes them. It imports `rules/` and
 * `lifecycle/`, nothing above, and starts no I/O.
 */
export {
  decide,
  decideByOverride,
  decideUnknown,
  type OverriddenOrigin,
  overriddenOrigin,
  permits,
  usageOf,
} from './decide.ts';
export {
  describeDecision,
  describeOutcome,
  failures,
  PRIVATE_ADDRESS,
  reasons,
  redirectEnds,
} from './describe-decision.ts';
export * from './channels.ts';
export { KnownOrigin, ROBOTS_SOURCES, type RobotsSource } from './known-origin.ts';
export {
  type Decision,
  type DecisionUsage,
  isPurpose,
  type Purpose,
  PURPOSES,
  REASONS,
  type RedirectChain,
  redirectChainPrefix,
  RefusedRequestError,
} from './decision.ts';
export { profileOrName, wholeProfile } from './profile-check.ts';
export type * from './policy.ts';
