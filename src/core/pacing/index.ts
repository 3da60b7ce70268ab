/**
 * When the next request to an origin may leave: its delay, the requests under way, pauses; in one process and, through
 * a store, in a fleet. `schedule.ts` decides, pure; `line.ts` waits. It must not import `client/`, `guard/` or
 * `cache/`: callers pass what robots.txt asks for.
 */
export { RobotsDeferredError } from './deferred.ts';
export type { Deferral } from './line.ts';
export {
  type BackOffOptions,
  type Pace,
  paceOf,
  type PacingOptions,
  pacingOptions,
  readReserveOptions,
} from './options.ts';
export type { Reservation } from './pacer.ts';
export type { PageAnswer } from './pause.ts';
export type { RequestPermit } from './taken-slot.ts';
export type { DelayFrom } from './schedule.ts';
