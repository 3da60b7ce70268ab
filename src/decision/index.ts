/**
 * `Decision` and `OriginPolicy`: their types, and the one place where each is made. It imports `rules/`, `lifecycle/`
 * and the entries of `cache/`; it must not import `fetch/`, `store/` or anything above, and starts nothing.
 */
export {
  DECIDE,
  RECALL,
  decide,
  decideByOverride,
  decideUnknown,
  type OverriddenOrigin,
  permits,
} from './decide.ts';
export type { Decision } from './decision.ts';
export { describeEntry, describeOverride, describeUnaskable } from './describe-policy.ts';
export type {
  OriginPolicy,
  PolicyAttempt,
  PolicyFile,
  PolicyHop,
  PolicyLifetime,
  PolicyNextAttempt,
  ProfileState,
} from './policy.ts';
