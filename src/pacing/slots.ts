import { LRUCache } from 'lru-cache';

/** A slot to book. Times are epoch milliseconds. */
export interface SlotRequest {
  readonly now: number;
  /** The least time between this slot and its neighbours. */
  readonly delayMs: number;
  /** The earliest time of the slot. */
  readonly notBefore?: number;
  /** A slot further away than this is not booked. */
  readonly maxWaitMs: number;
}

/** A slot whose time was given to a caller, who makes the request outside of our control. It is never moved. */
export type Slot =
  | { readonly booked: true; readonly at: number; release(): void }
  | { readonly booked: false; readonly at: number };

/** A slot of a request that waits in this process. It is moved back when an earlier request leaves late. */
export type WaitingSlot =
  | {
      readonly booked: true;
      /** The earliest time for the request, as known at `now`. Call it again when that time has come. */
      dueAt(now: number): number;
      /** Call when the request leaves. Only when `dueAt(now)` is not later than `now`. */
      leave(now: number): void;
      release(): void;
    }
  | { readonly booked: false; readonly at: number };

interface Booking {
  at: number;
  readonly delayMs: number;
}

interface Timetable {
  /** The last request that left. */
  left: Booking | undefined;
  /** The last slot whose time was given to a caller, so that it cannot be moved. */
  fixed: Booking | undefined;
  /** The requests that wait in this process, in order of time, with their delays between them. */
  waiting: Booking[];
  /** The end of the pause that the site asked for. */
  heldUntil: number;
}

const MAX_LATE_MS = 50;

/**
 * The lateness that is tolerated in a slot whose neighbours cannot be moved, because their times were given to
 * others. Timers are late by some milliseconds. A request that is later needs a new slot.
 */
export function toleratedLateMs(delayMs: number): number {
  return Math.min(MAX_LATE_MS, delayMs / 10);
}

/**
 * The timetable of each origin. It gets the time as a number, and never waits.
 *
 * A slot is booked synchronously, so that each of many concurrent callers gets a time of its own; with "sleep since
 * the last response" all of them would leave together. It is checked again when the request leaves: after a stopped
 * or busy process many slots are past, and only one request may leave at that moment.
 */
export class Slots {
  private readonly origins: LRUCache<string, Timetable>;

  /** Keeps at most `maxOrigins` origins, and forgets the least recently used ones with their slots. */
  constructor(maxOrigins: number) {
    // Not `max`, for which the library fills arrays of that length at once.
    this.origins = new LRUCache({ maxSize: maxOrigins, sizeCalculation: () => 1 });
  }

  /** Books a slot whose time is given to the caller. */
  book(origin: string, request: SlotRequest): Slot {
    const timetable = this.timetableOf(origin);
    const at = nextAt(timetable, request);
    if (at - request.now > request.maxWaitMs) return { booked: false, at };
    const before = timetable.fixed;
    const booking: Booking = { at, delayMs: request.delayMs };
    timetable.fixed = booking;
    return {
      booked: true,
      at,
      // Only the last slot can be given back: the times of later ones were already given to callers.
      release() {
        if (timetable.fixed === booking) timetable.fixed = before;
      },
    };
  }

  /** Books a slot for a request that waits in this process. */
  bookWaiting(origin: string, request: SlotRequest): WaitingSlot {
    const timetable = this.timetableOf(origin);
    const { waiting } = timetable;
    const at = nextAt(timetable, request);
    if (at - request.now > request.maxWaitMs) return { booked: false, at };
    const booking: Booking = { at, delayMs: request.delayMs };
    waiting.push(booking);
    const remove = (): boolean => {
      const index = waiting.indexOf(booking);
      if (index >= 0) waiting.splice(index, 1);
      return index >= 0;
    };
    return {
      booked: true,
      dueAt(now) {
        const { fixed } = timetable;
        if (fixed !== undefined && isTooLate(booking, fixed, now)) {
          remove();
          booking.at = nextAt(timetable, { ...request, now });
          waiting.push(booking);
        }
        return booking.at;
      },
      leave(now) {
        if (remove()) leave(timetable, { at: now, delayMs: booking.delayMs });
      },
      release: remove,
    };
  }

  /** Records that a request leaves at `now` whose slot was booked elsewhere. */
  leave(origin: string, { now, delayMs }: Pick<SlotRequest, 'now' | 'delayMs'>): void {
    leave(this.timetableOf(origin), { at: now, delayMs });
  }

  /** The earliest time after the last request that left. */
  afterLeft(origin: string, delayMs: number): number {
    return behind(this.origins.peek(origin)?.left, delayMs);
  }

  /** Records that the site asked for a pause until `until`. It never shortens an earlier pause. */
  hold(origin: string, until: number): void {
    const timetable = this.timetableOf(origin);
    timetable.heldUntil = Math.max(timetable.heldUntil, until);
    moveWaiting(timetable, undefined);
  }

  heldUntil(origin: string): number {
    return this.origins.peek(origin)?.heldUntil ?? -Infinity;
  }

  /** The earliest time for a slot of `delayMs` after those booked here. */
  after(origin: string, delayMs: number): number {
    const timetable = this.origins.peek(origin);
    return timetable === undefined ? -Infinity : afterAll(timetable, delayMs);
  }

  clear(): void {
    this.origins.clear();
  }

  private timetableOf(origin: string): Timetable {
    let timetable = this.origins.get(origin);
    if (timetable === undefined) {
      timetable = { left: undefined, fixed: undefined, waiting: [], heldUntil: -Infinity };
      this.origins.set(origin, timetable);
    }
    return timetable;
  }
}

function nextAt(timetable: Timetable, { now, delayMs, notBefore = now }: SlotRequest): number {
  return Math.max(now, notBefore, timetable.heldUntil, afterAll(timetable, delayMs));
}

function afterAll({ left, fixed, waiting }: Timetable, delayMs: number): number {
  return Math.max(behind(left, delayMs), behind(fixed, delayMs), behind(waiting.at(-1), delayMs));
}

/** The longer delay of two neighbours counts, so that a newly learnt delay holds at once. */
function behind(booking: Booking | undefined, delayMs: number): number {
  return booking === undefined ? -Infinity : booking.at + Math.max(booking.delayMs, delayMs);
}

/** Whether a request that leaves at `now` instead of in its slot comes too close to the fixed slot behind it. */
function isTooLate({ at, delayMs }: Booking, fixed: Booking, now: number): boolean {
  const gapMs = Math.max(delayMs, fixed.delayMs);
  return fixed.at > at && now - at > toleratedLateMs(gapMs) && now < fixed.at + gapMs;
}

function leave(timetable: Timetable, booking: Booking): void {
  timetable.left = booking;
  moveWaiting(timetable, booking);
}

/** Moves waiting requests back, behind the request `before` them and behind the pause of the site. */
function moveWaiting({ waiting, fixed, heldUntil }: Timetable, before: Booking | undefined): void {
  let previous = before;
  for (const booking of waiting) {
    let at = Math.max(heldUntil, behind(previous, booking.delayMs));
    // The rest are late enough already.
    if (at <= booking.at) return;
    if (fixed !== undefined && isTooLate(booking, fixed, at))
      at = Math.max(at, behind(fixed, booking.delayMs));
    booking.at = at;
    previous = booking;
  }
}
