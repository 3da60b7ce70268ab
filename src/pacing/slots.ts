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

/** A slot whose time was told to a caller who makes the request unseen: it is never moved. */
export type Slot =
  | { readonly booked: true; readonly at: number; release(): void }
  | { readonly booked: false; readonly at: number };

/** A slot of a request that waits in this process. It moves back when a request before it leaves late. */
export type WaitingSlot =
  | {
      readonly booked: true;
      /** The time from which the request may leave, as far as is known at `now`. Ask again when it has come. */
      dueAt(now: number): number;
      /** The request leaves now. Only when `dueAt(now)` is not later than `now`. */
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
  /** The last slot whose time was told to a caller. */
  told: Booking | undefined;
  /** The requests that wait in this process, in order of time, far enough apart. */
  waiting: Booking[];
  /** The site asked for a pause until then. */
  heldUntil: number;
}

const MAX_LATE_MS = 50;

/**
 * How late a request may leave in a slot whose neighbours cannot be moved, because somebody else was told their times.
 * Timers are late by some milliseconds. A request that is later than this needs another slot.
 */
export function toleratedLateMs(delayMs: number): number {
  return Math.min(MAX_LATE_MS, delayMs / 10);
}

/**
 * When each origin may be asked next. Pure but for its memory: the time comes in as a number, nothing waits here.
 *
 * A slot is booked at once, in the caller's own turn, so that of many concurrent callers each gets a time of its own.
 * "Sleep since the last answer" would let all of them go together. It is checked again when the request leaves: a
 * process that was stopped or busy finds many slots past, and only one request may leave at that moment.
 */
export class Slots {
  private readonly origins: LRUCache<string, Timetable>;

  /** Of more origins than `maxOrigins` those asked least recently are forgotten, slots and all. */
  constructor(maxOrigins: number) {
    this.origins = new LRUCache({ max: maxOrigins });
  }

  /** Books a slot whose time is told to the caller. */
  book(origin: string, request: SlotRequest): Slot {
    const timetable = this.timetableOf(origin);
    const at = nextAt(timetable, request);
    if (at - request.now > request.maxWaitMs) return { booked: false, at };
    const before = timetable.told;
    const booking: Booking = { at, delayMs: request.delayMs };
    timetable.told = booking;
    return {
      booked: true,
      at,
      // Only the last slot can be given back: those behind it have been told their times already.
      release() {
        if (timetable.told === booking) timetable.told = before;
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
        const { told } = timetable;
        if (told !== undefined && isTooLate(booking, told, now)) {
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

  /** A request leaves at `now` whose slot was booked elsewhere. */
  leave(origin: string, { now, delayMs }: Pick<SlotRequest, 'now' | 'delayMs'>): void {
    leave(this.timetableOf(origin), { at: now, delayMs });
  }

  /** The earliest time for a request behind the last one that left. */
  afterLeft(origin: string, delayMs: number): number {
    return behind(this.origins.peek(origin)?.left, delayMs);
  }

  /** The site asked to be left alone until `until`; an earlier pause is never shortened. */
  hold(origin: string, until: number): void {
    const timetable = this.timetableOf(origin);
    timetable.heldUntil = Math.max(timetable.heldUntil, until);
    moveWaiting(timetable, undefined);
  }

  heldUntil(origin: string): number {
    return this.origins.peek(origin)?.heldUntil ?? -Infinity;
  }

  /** When a slot of `delayMs` may be at the earliest behind those booked here. */
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
      timetable = { left: undefined, told: undefined, waiting: [], heldUntil: -Infinity };
      this.origins.set(origin, timetable);
    }
    return timetable;
  }
}

function nextAt(timetable: Timetable, { now, delayMs, notBefore = now }: SlotRequest): number {
  return Math.max(now, notBefore, timetable.heldUntil, afterAll(timetable, delayMs));
}

function afterAll({ left, told, waiting }: Timetable, delayMs: number): number {
  return Math.max(behind(left, delayMs), behind(told, delayMs), behind(waiting.at(-1), delayMs));
}

/** The longer of two neighbours' delays counts: a delay that was just learnt holds for the slot behind it already. */
function behind(booking: Booking | undefined, delayMs: number): number {
  return booking === undefined ? -Infinity : booking.at + Math.max(booking.delayMs, delayMs);
}

/** Whether a request that leaves at `now` instead of in its slot comes too close to the slot told behind it. */
function isTooLate({ at, delayMs }: Booking, told: Booking, now: number): boolean {
  const gapMs = Math.max(delayMs, told.delayMs);
  return told.at > at && now - at > toleratedLateMs(gapMs) && now < told.at + gapMs;
}

function leave(timetable: Timetable, booking: Booking): void {
  timetable.left = booking;
  moveWaiting(timetable, booking);
}

/** Moves back those who wait, as far as the request `before` them and the pause of the site ask for. */
function moveWaiting({ waiting, told, heldUntil }: Timetable, before: Booking | undefined): void {
  let previous = before;
  for (const booking of waiting) {
    let at = Math.max(heldUntil, behind(previous, booking.delayMs));
    // The rest are far enough behind this one.
    if (at <= booking.at) return;
    if (told !== undefined && isTooLate(booking, told, at)) at = Math.max(at, behind(told, booking.delayMs));
    booking.at = at;
    previous = booking;
  }
}
