/**
 * When the next request to an origin may start: its gap, the requests in flight, pauses; in one process and, through a
 * store, in a fleet. `starts.ts` decides, pure; `queue.ts` waits, `fleet-slots.ts`
 * asks the store. It must not import `client/`, `guards/` or
 * `cache/`: callers pass what robots.txt asks for.
 */
export { delayName, describeDelay, RobotsDeferredError } from './deferred.ts';
export * from './options.ts';
export type { PageResponse } from './pause-length.ts';
export type { RequestPermit } from './request-permit.ts';
export type { Reservation } from './request-permit.ts';
export type { PacingTotals } from './queues.ts';
export type { Deferral } from './starts.ts';
export type { DelayFrom } from '../decision/index.ts';
