/**
 * Guards call the client before each request, and at each redirect, of an HTTP library that users have, and make
 * requests wait for their slot.
 *
 * It must not import `client/`, which it knows as a `GuardClient`, nor `cache/` or `store/`. The guards of single
 * libraries (`undici/`, `got.ts`, `axios.ts`, `crawlee/`, `browser/`) are entrances of the package:
 * they describe those libraries by types of their own, import none of them, and are imported by other entrances only.
 */
export { guardFetch, type GuardFetchOptions } from './fetch/fetch.ts';
export type { GuardClient } from './shared/client.ts';
export type { OtherIdentity } from './shared/identity.ts';
export type { IgnoreReason, RobotsInit } from './shared/ignore.ts';
export type { GuardOptions, IgnoredRequest } from './shared/options.ts';
export {
  type Refusal,
  refusalIn,
  RobotsDisallowedError,
  RobotsUndecidedError,
  RobotsUnreachableError,
  RobotsUsageError,
} from './shared/refusal.ts';
