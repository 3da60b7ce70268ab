import type { DelayFrom } from '../decision/index.ts';
import type { Gap } from './gap.ts';
import type { Pace } from './options.ts';

/** A time of the fleet's schedule that is ours. It cannot be given back there. */
export interface FleetSlot {
  readonly at: number;
  /** A start after it may come too close to that of another member. */
  readonly latestAt: number;
  readonly delayMs: number;
  /** When the fleet was last asked whether a pause forbids it. */
  lookedAt: number;
}

/** What a request asks for. */
export interface PermitOptions {
  readonly url: string;
  readonly origin: string;
  readonly pace: Pace;
  readonly gap: Gap;
  /** The earliest time, by the request for robots.txt, and the gap to that. */
  readonly notBefore: number;
  readonly gapToRobots: Gap;
  /** Whether a start is booked for the request, instead of waiting for its time. */
  readonly isBooking: boolean;
  /** After its start, if its end is never reported. */
  readonly ttlMs: number;
  /** Called when it has ended by that. */
  readonly onExpiry?: (() => void) | undefined;
}

/** A request for a page, which waits for its start, and then is in flight until it ends. */
export class Permit {
  readonly url: string;
  readonly origin: string;
  readonly pace: Pace;
  readonly gap: Gap;
  readonly notBefore: number;
  readonly gapToRobots: Gap;
  readonly isBooking: boolean;
  readonly ttlMs: number;
  readonly onExpiry: (() => void) | undefined;
  /** The latest end of its whole wait. */
  deadline: number;
  /** The time at which it became the first of its queue. */
  firstAt: number | undefined = undefined;
  /** What decides the time of a booking. */
  delayFrom: DelayFrom;
  /** Its slot in the schedule of the fleet. */
  slot: FleetSlot | undefined = undefined;
  /** The start of its request. */
  at: number;
  /** The time from which the gap to the next start counts. */
  countsFrom: number;
  /** Whether the library and the connection are cold: the gap counts from the response header. */
  isCold = false;
  /** When the permit ends if its end is never reported. */
  expiresAt: number;
  isReleased = false;
  /** The start before this one, in case it is released. */
  previousStart: Permit | undefined = undefined;

  constructor(now: number, options: PermitOptions) {
    const { pace, gap, isBooking } = options;
    this.url = options.url;
    this.origin = options.origin;
    this.pace = pace;
    this.gap = gap;
    this.notBefore = options.notBefore;
    this.gapToRobots = options.gapToRobots;
    this.isBooking = isBooking;
    this.ttlMs = options.ttlMs;
    this.onExpiry = options.onExpiry;
    this.deadline = now + (isBooking ? pace.maxDelayMs : pace.maxTotalWaitMs);
    this.delayFrom = gap.delayFrom;
    this.at = this.countsFrom = this.expiresAt = now;
  }
}
