/**
 * The guard room: asks the question for those who have a client library already, before each request and at each
 * redirect, and holds requests back until their slot.
 *
 * It must not import the client, which it knows as a `GuardClient`, nor anything of `cache/`. The guards of single
 * libraries (`undici.ts`, `got.ts`, `axios.ts`, `crawlee.ts`, `playwright.ts`) are entrances of the package: they describe
 * those libraries by types of their own, import none, and are imported by other entrances at most.
 */
export { RobotsDeferredError } from '../pacing/deferred.ts';
export { guardFetch, type GuardFetchOptions } from './fetch/fetch.ts';
export type { GuardClient } from './guard.ts';
export type { RobotsInit } from './ignore.ts';
export type { GuardOptions, IgnoredRequest } from './options.ts';
export type { PacingOptions } from '../pacing/options.ts';
export type { Reservation } from '../pacing/pacer.ts';
export {
  type Refusal,
  refusalIn,
  RobotsDisallowedError,
  RobotsUndecidedError,
  RobotsUnreachableError,
} from './refusal.ts';
