import type { SharedSchedule } from '../store/shared-schedule.ts';
import type { StorePause } from '../store/store.ts';
import type { Pause } from '../decision/index.ts';
import type { PacingClock } from './pacing-clock.ts';
import type { FleetSlot } from './starts.ts';

/** What all members of a fleet share. */
export type Fleet = Pick<SharedSchedule, 'reserve' | 'pause'>;

/** What the fleet replied, and what it took. */
export interface FleetReply {
  /** The pause in force, if it could be asked for. */
  readonly pause: StorePause | undefined;
  /** What the request waited for the store, and not for the site. */
  readonly storeMs: number;
  /** Nothing was booked: no slot is free before. */
  readonly freeAt?: number;
}

/** A request may be late for its slot by half the gap, and by this where the gap is short: timers are late, too. */
const MIN_LATE_MS = 50;
/** The first request of a process comes late by its cold start, which the others do not see: so much is left beside half a gap. */
const COLD_START_MS = 500;
/** How late a start may be without a gap, or in a slot that the process gives itself. */
const LATE_WITHOUT_GAP_MS = 1_000;
/** Another member may have paused since: no start by a look at its pauses that is older. */
const LOOK_AGAIN_MS = 250;
/** A reply that takes longer came while this process was stopped, and says nothing of now. */
const STOPPED_MS = 3_000;
/** The longest time by which a call is made earlier because replies are late. */
const MAX_LEAD_MS = 1_000;

/** The slots of one queue in the schedule of its fleet: one call at a time, and one slot that is not used yet. */
export class FleetSlots {
  readonly #fleet: Fleet;
  readonly #scope: string;
  readonly #clock: PacingClock;
  #slot: FleetSlot | undefined;
  #isCold = true;
  /** Whether a reply is awaited. */
  isAsking = false;
  /** What the last call took: the next one is made earlier by it. */
  leadMs = 0;

  constructor(fleet: Fleet, scope: string, clock: PacingClock) {
    this.#fleet = fleet;
    this.#scope = scope;
    this.#clock = clock;
  }

  /** The slot for a request with this gap that can start at `earliest`, if one is booked. */
  slotFor(delayMs: number, earliest: number): FleetSlot | undefined {
    const slot = this.#slot;
    return slot === undefined || slot.delayMs < delayMs || slot.latestAt < earliest ? undefined : slot;
  }

  /** The slot is used. */
  take(): void {
    this.#slot = undefined;
    this.#isCold = false;
  }

  /** The request of a slot is not sent: it is for the next one. */
  giveBack(slot: FleetSlot | undefined): void {
    this.#slot ??= slot;
  }

  /** When a request that can start at `start` in this slot goes on: it starts then, or looks at the pauses of others before. */
  nextStep(slot: FleetSlot, start: number, now: number): { readonly at: number; readonly looks: boolean } {
    const looks = Math.max(now, start) - slot.lookedAt > LOOK_AGAIN_MS;
    return { at: looks ? start - this.leadMs : start, looks };
  }

  /** Learns of a pause that the fleet has begun since the slot was booked. */
  async lookAgain(slot: FleetSlot): Promise<FleetReply> {
    const { value: pause, askedAt, now } = await this.#ask(() => this.#fleet.pause(this.#scope, 0));
    slot.lookedAt = lookedAt(askedAt, now);
    return { pause, storeMs: now - askedAt };
  }

  /**
   * Books a slot, unless it would come later than `maxWaitMs` from now.
   *
   * @param isBooking Whether the caller sends the request by itself: it knows its start.
   */
  async book(delayMs: number, minWaitMs: number, maxWaitMs: number, isBooking: boolean): Promise<FleetReply> {
    const lateMs = delayMs === 0 ? LATE_WITHOUT_GAP_MS : Math.max(MIN_LATE_MS, delayMs / 2);
    // Where a reply comes too late for a slot of now, only a later one is of use.
    const aheadMs = this.leadMs > lateMs ? Math.max(0, this.leadMs - minWaitMs) : 0;
    const bounds = { minWaitMs: minWaitMs + aheadMs, maxWaitMs: Math.max(0, maxWaitMs) + aheadMs };
    const isCold = this.#isCold && !isBooking && delayMs > 0;
    const slotMs = isCold ? Math.max(delayMs, COLD_START_MS + delayMs / 2) : delayMs;
    const asked = await this.#ask(() => this.#fleet.reserve(this.#scope, slotMs, bounds));
    const { value: booked, askedAt, now } = asked;
    const tookMs = now - askedAt;
    const reply = { pause: booked, storeMs: tookMs + aheadMs };
    if (booked === undefined) {
      // A fleet that cannot be reached leaves each process its own schedule.
      const at = Math.max(now, askedAt + minWaitMs);
      if (tookMs <= STOPPED_MS)
        this.#slot = { at, latestAt: at + LATE_WITHOUT_GAP_MS, delayMs, lookedAt: at };
      return reply;
    }
    if (booked.waitMs > bounds.maxWaitMs) return { ...reply, freeAt: now + booked.waitMs };
    // The store counted from some time between the call and its reply. It must not be taken to be much later.
    const askedFor = askedAt + booked.waitMs;
    const at = askedFor + Math.min(tookMs / 2, delayMs / 3);
    this.#slot = { at, latestAt: askedFor + lateMs, delayMs, lookedAt: lookedAt(askedAt, now) };
    return reply;
  }

  /** Whether another member has paused these requests. */
  askForPause(): Promise<StorePause | undefined> {
    return this.#fleet.pause(this.#scope, 0);
  }

  /** Tells the others of a pause. */
  pause(ms: number, cause: Pause['delayFrom']): void {
    void this.#fleet.pause(this.#scope, ms, cause);
  }

  async #ask<Value>(
    call: () => Promise<Value>,
  ): Promise<{ readonly value: Value; readonly askedAt: number; readonly now: number }> {
    const askedAt = this.#clock.now();
    this.isAsking = true;
    const value = await call();
    this.isAsking = false;
    const now = this.#clock.now();
    this.leadMs = Math.min(now - askedAt, MAX_LEAD_MS);
    return { value, askedAt, now };
  }
}

/** From when on a reply says nothing of pauses. One that was late is good for a start that follows at once. */
function lookedAt(askedAt: number, now: number): number {
  return now - askedAt > STOPPED_MS ? askedAt : Math.max(askedAt, now - LOOK_AGAIN_MS + MIN_LATE_MS);
}
