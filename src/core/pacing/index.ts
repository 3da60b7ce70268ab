/**
 * When the next request to an origin may start: its gap, the requests in flight, pauses; in one process and, through a
 * store, in a fleet. `schedule.ts` decides, pure; `queue.ts` waits. It must not import `client/`, `guards/` or
 * `cache/`: callers pass what robots.txt asks for.
 */
export { delayName, describeDelay, RobotsDeferredError } from './deferred.ts';
export * from './options.ts';
export type { PageResponse } from './pause.ts';
export type { RequestPermit, Reservation } from './permit.ts';
export type { PacingTotals } from './queues.ts';
export type { Deferral } from './schedule.ts';
export type { DelayFrom } from '../decision/index.ts';
