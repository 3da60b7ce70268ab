import type { MonotonicClock } from '../base/index.ts';
import type { SharedSchedule } from '../store/index.ts';

/** What all members of a fleet share. */
export type FleetSchedule = Pick<SharedSchedule, 'reserve' | 'pause'>;

/** A time of the fleet's schedule that is ours. It cannot be given back there. */
export interface FleetSlot {
  readonly at: number;
  /** A start after it may come too close to that of another member. */
  readonly latestAt: number;
  readonly delayMs: number;
  /** When the fleet was last asked for pauses. */
  readonly checkedAt: number;
}

/** The bounds of the wait for a slot, in milliseconds. */
interface WaitBounds {
  readonly minWaitMs: number;
  readonly maxWaitMs: number;
}

const MAX_LATE_MS = 50;
const MAX_SLACK_MS = 10_000;
/** How long a slot is usable that the process gives itself. */
const LOCAL_SLOT_MS = 1_000;
/** The share of the slack that is left after a request that used its slot. */
const SLACK_KEPT = 0.5;
/** The share of the longest wait that slack may take: the other members wait for its end, and not longer than that. */
const MAX_SLACK_OF_WAIT = 0.25;
/** Slack may always take two replies of the store: a slot is known only one reply after it was booked. */
const MAX_SLACK_OF_REPLY = 2;

/** How late a request may use its slot: the slots around it belong to others, but timers are late by milliseconds. */
export function slotToleranceMs(delayMs: number): number {
  return delayMs === 0 ? MAX_LATE_MS : Math.min(MAX_LATE_MS, delayMs / 10);
}

/**
 * How much longer than a moment the first slot of an origin lasts. A process that has sent nothing yet, or is busy, sends
 * its requests late.
 */
export class Punctuality {
  slackMs: number;

  constructor(slackMs: number) {
    this.slackMs = slackMs;
  }
}

/** The slots that one process books in the fleet's schedule of an origin: one at a time. */
export class FleetSlots {
  readonly #origin: string;
  readonly #clock: MonotonicClock;
  readonly #fleet: FleetSchedule;
  #slot: FleetSlot | undefined;
  /**
   * How much longer than a moment the next slot lasts. The slots of a process that is often too late, because it or the
   * store is busy, become longer, so that it can use them.
   */
  #slackMs: number;
  /** How long the store took for the latest booking. */
  #replyMs = 0;
  readonly #process: Punctuality;

  constructor(
    origin: string,
    clock: MonotonicClock,
    fleet: FleetSchedule,
    process: Punctuality = new Punctuality(0),
  ) {
    this.#origin = origin;
    this.#clock = clock;
    this.#fleet = fleet;
    this.#process = process;
    this.#slackMs = process.slackMs;
  }

  /** The slot that is booked and not used, if a request with this delay may start in it from `earliest` on. */
  usable(delayMs: number, earliest: number, now: number): FleetSlot | undefined {
    const slot = this.#slot;
    return slot === undefined || slot.delayMs < delayMs || slot.latestAt < Math.max(now, earliest)
      ? undefined
      : slot;
  }

  /** Whether a slot is booked and not used. */
  get isBooked(): boolean {
    return this.#slot !== undefined;
  }

  /** Uses the slot. */
  take(): void {
    this.#slot = undefined;
  }

  /** Keeps the slot of a request that is not sent for the next one. */
  keep(slot: FleetSlot): void {
    this.#slot ??= slot;
  }

  /** Discards the slot when it comes before `time`. */
  discardBefore(time: number): void {
    if (this.#slot !== undefined && this.#slot.at < time) this.#slot = undefined;
  }

  /** A request missed its slot by `byMs` milliseconds. */
  missed(byMs: number): void {
    this.#slackMs = Math.min(MAX_SLACK_MS, Math.max(this.#slackMs, Math.ceil(2 * byMs)));
    this.#process.slackMs = Math.max(this.#process.slackMs, this.#slackMs);
  }

  /** A request starts in its slot. */
  used(slot: FleetSlot, now: number): void {
    this.#slackMs = Math.floor(this.#slackMs * SLACK_KEPT);
    this.#process.slackMs = Math.floor(this.#process.slackMs * SLACK_KEPT);
    this.late(slot, now);
  }

  /** A request is sent now. Its slot was long enough for that, or the next one will be. */
  late({ at, delayMs }: FleetSlot, now: number): void {
    if (now - at > slotToleranceMs(delayMs)) this.missed(now - at);
  }

  /**
   * Books a slot. Resolves with the wait for it in milliseconds, when it was not booked because that is longer than
   * `maxWaitMs`.
   */
  async book(delayMs: number, bounds: WaitBounds): Promise<number | undefined> {
    const askedAt = this.#clock.now();
    const longestMs = Math.max(bounds.maxWaitMs * MAX_SLACK_OF_WAIT, this.#replyMs * MAX_SLACK_OF_REPLY);
    const slackMs = Math.min(this.#slackMs, Math.floor(longestMs));
    const booked = await this.#fleet.reserve(this.#origin, delayMs, { ...bounds, slackMs });
    const now = this.#clock.now();
    this.#replyMs = now - askedAt;
    if (booked === undefined) {
      // A fleet that cannot be reached leaves each process its own schedule.
      this.#slot = {
        at: Math.max(now, askedAt + bounds.minWaitMs),
        // After a pause the fleet is asked again: it may be back.
        latestAt: Math.max(now, askedAt + bounds.minWaitMs) + LOCAL_SLOT_MS,
        delayMs,
        checkedAt: now,
      };
      return undefined;
    }
    const { waitMs } = booked;
    if (waitMs > bounds.maxWaitMs) return waitMs;
    // The store counted the wait at some time between the call and its reply.
    const latestAt = askedAt + waitMs + slackMs + slotToleranceMs(delayMs);
    const at = now + waitMs;
    if (at > latestAt) this.missed(now - askedAt);
    else this.#slot = { at, latestAt, delayMs, checkedAt: now };
    return undefined;
  }

  /** Shares a pause with the fleet. */
  share(pauseMs: number): void {
    void this.#fleet.pause(this.#origin, pauseMs);
  }

  /** The milliseconds until the end of the pause that any member has reported; 0 without one. */
  async pausedMs(): Promise<number> {
    const pausedMs = (await this.#fleet.pause(this.#origin, 0)) ?? 0;
    const now = this.#clock.now();
    if (this.#slot !== undefined) this.#slot = { ...this.#slot, checkedAt: now };
    this.discardBefore(now + pausedMs);
    return pausedMs;
  }

  /** Without a gap the fleet shares only pauses, so any time from `earliest` on is free. */
  startAt(earliest: number): void {
    const now = this.#clock.now();
    const at = Math.max(earliest, now);
    this.#slot = { at, latestAt: at + MAX_LATE_MS, delayMs: 0, checkedAt: now };
  }
}
