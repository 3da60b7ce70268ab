/**
 * The steps of a guarded request, for every HTTP library and browser: ask the client, wait for a permit, send, report.
 *
 * Guards ask the client's engine. They describe the libraries they guard by types of their own and import none of them.
 */
export type { OtherIdentity } from './identity.ts';
export type { IgnoreReason, RobotsInit, GuardOptions, IgnoredRequest, PaymentRequired } from './options.ts';
export {
  type Refusal,
  refusalIn,
  refusalOrAddressIn,
  RobotsDisallowedError,
  RobotsUnreachableError,
  RobotsUsageError,
} from '../../core/client/refusal-errors.ts';
export { retryAtOf, type SiteWait } from './not-now.ts';
export { retryLater, type RetryLaterOptions } from './retry-later.ts';
