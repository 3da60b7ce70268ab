/**
 * Slots: when the next request to an origin may be sent, in one process and, through a store, in a fleet. It must not
 * import `client/`, `guard/` or `cache/`: callers pass the delay that robots.txt asks for.
 */
export { RobotsDeferredError } from './deferred.ts';
export { type Pace, paceOf, type PacingOptions, pacingOptions, readReserveOptions } from './options.ts';
export type { PageAnswer, TakenSlot } from './paced-request.ts';
export { Pacer, RequestRates, type Reservation } from './pacer.ts';
