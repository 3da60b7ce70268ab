import { LRUCache } from 'lru-cache';

/** What is asked of an origin's timetable. Times are epoch milliseconds. */
export interface SlotRequest {
  readonly now: number;
  /** The least time between this slot and its neighbours. */
  readonly delayMs: number;
  /** The slot is not earlier than this, whatever was booked. */
  readonly notBefore?: number;
  /** A slot further away than this is not booked. */
  readonly maxWaitMs: number;
}

/** `at` is when the slot is; when it was not booked, when it would have been. */
export type Slot =
  | { readonly booked: true; readonly at: number; release(): void }
  | { readonly booked: false; readonly at: number };

interface Booking {
  readonly at: number;
  readonly delayMs: number;
}

interface Timetable {
  last: Booking | undefined;
  /** The site asked for a pause until then. */
  heldUntil: number;
}

/**
 * When each origin may be asked next. Pure but for its memory: the time comes in as a number, nothing waits here.
 *
 * A slot is booked at once, in the caller's own turn, so that of many concurrent callers each gets a time of its own.
 * "Sleep since the last answer" would let all of them go together.
 */
export class Slots {
  private readonly origins: LRUCache<string, Timetable>;

  /** Of more origins than `maxOrigins` those asked least recently are forgotten, slots and all. */
  constructor(maxOrigins: number) {
    this.origins = new LRUCache({ max: maxOrigins });
  }

  book(origin: string, { now, delayMs, notBefore = now, maxWaitMs }: SlotRequest): Slot {
    const timetable = this.timetableOf(origin);
    const { last, heldUntil } = timetable;
    // The longer of two neighbours' delays counts: a delay that was just learnt holds for this slot already.
    const afterLast = last === undefined ? now : last.at + Math.max(last.delayMs, delayMs);
    const at = Math.max(now, notBefore, heldUntil, afterLast);
    if (at - now > maxWaitMs) return { booked: false, at };
    const booking: Booking = { at, delayMs };
    timetable.last = booking;
    return {
      booked: true,
      at,
      // Only the last slot can be given back: those behind it have been told their times already.
      release() {
        if (timetable.last === booking) timetable.last = last;
      },
    };
  }

  /** The site asked to be left alone until `until`; an earlier pause is never shortened. */
  hold(origin: string, until: number): void {
    const timetable = this.timetableOf(origin);
    timetable.heldUntil = Math.max(timetable.heldUntil, until);
  }

  heldUntil(origin: string): number {
    return this.origins.peek(origin)?.heldUntil ?? -Infinity;
  }

  /** When a slot of `delayMs` may be at the earliest behind those booked here. */
  after(origin: string, delayMs: number): number {
    const last = this.origins.peek(origin)?.last;
    return last === undefined ? -Infinity : last.at + Math.max(last.delayMs, delayMs);
  }

  clear(): void {
    this.origins.clear();
  }

  private timetableOf(origin: string): Timetable {
    let timetable = this.origins.get(origin);
    if (timetable === undefined) {
      timetable = { last: undefined, heldUntil: -Infinity };
      this.origins.set(origin, timetable);
    }
    return timetable;
  }
}
