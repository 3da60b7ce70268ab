import { type Clock, onAbort, sleepWith, type MonotonicClock } from '../base/index.ts';
import type { SharedSchedule } from '../store/index.ts';
import type { Pause } from '../decision/index.ts';
import type { PauseSignal } from './pause.ts';
import { type DelayFrom, type Departure, type Place, Schedule, type Wanted } from './schedule.ts';

/** A request of this process. */
export interface LineRequest extends Wanted {
  /** It does not wait longer than this. */
  readonly deadline: number;
  /** It takes a place for a time to come, instead of waiting for that time. */
  readonly booksAhead: boolean;
}

/** The request has to wait longer than it may. */
export interface Deferral {
  readonly retryAt: number;
  readonly delayFrom: DelayFrom;
}

interface Waiter {
  readonly request: LineRequest;
  settle(result: Place | Deferral): void;
  reject(reason: unknown): void;
}

/** A slot of the fleet that no request of this process has used yet. It cannot be given back there. */
interface FleetSlot {
  readonly at: number;
  readonly delayMs: number;
  /** When the fleet was asked for pauses last. */
  checkedAt: number;
}

/** While it waits, a line looks at the clock so often: the clock may be set, and a computer may sleep. */
const LOOK_AGAIN_MS = 60_000;
const MAX_LATE_MS = 50;
/** Shortly before a slot of a fleet that was waited for, the fleet is asked for pauses again. */
const CHECKED_FOR_MS = 200;
const WOKEN = Symbol('woken');

/**
 * How late a request may use its slot of a fleet, because the slots around it belong to others. Timers are late by
 * some milliseconds. A request that is later needs a new slot.
 */
export function slotToleranceMs(delayMs: number): number {
  return delayMs === 0 ? MAX_LATE_MS : Math.min(MAX_LATE_MS, delayMs / 10);
}

/** The requests of this process that wait for one origin, in order, and the loop that lets them go. */
export class Line {
  readonly schedule: Schedule = new Schedule();
  readonly #origin: string;
  readonly #clock: Clock;
  readonly #steady: MonotonicClock;
  readonly #fleet: SharedSchedule | undefined;
  #waiting: Waiter[] = [];
  #serving = false;
  #sleeper: { readonly until: number; readonly controller: AbortController } | undefined;
  #slot: FleetSlot | undefined;

  constructor(origin: string, clock: Clock, steady: MonotonicClock, fleet: SharedSchedule | undefined) {
    this.#origin = origin;
    this.#clock = clock;
    this.#steady = steady;
    this.#fleet = fleet;
  }

  /** Whether nobody waits, and no time of the schedule is to come. */
  isIdleAt(now: number): boolean {
    return this.#waiting.length === 0 && this.schedule.isIdleAt(now);
  }

  /** The end of its pause, when nothing else depends on the line. */
  onlyPausesUntil(now: number): number | undefined {
    return this.#waiting.length > 0 || this.schedule.hasPlacesAt(now)
      ? undefined
      : this.schedule.pauseAt(now)?.until;
  }

  /**
   * Takes a place for a request when its turn and its time have come. Synchronous when that is now, and without a
   * fleet. Rejects only with the reason of `signal`, or of {@link close}.
   *
   * @param now The time of the call.
   * @param isFirst The request had a place and lost it, so it goes before all others.
   */
  ask(
    request: LineRequest,
    now: number,
    signal: AbortSignal | undefined,
    isFirst = false,
  ): Place | Deferral | Promise<Place | Deferral> {
    signal?.throwIfAborted();
    const result = this.#decide(request, isFirst ? 0 : this.#waiting.length, now);
    if (result !== undefined && 'retryAt' in result) return result;
    if (result !== undefined && this.#fleet === undefined) return this.schedule.take(result, request.gap);
    return new Promise((resolve, reject) => {
      const left =
        signal === undefined
          ? undefined
          : onAbort(signal, () => {
              this.#remove(waiter);
              reject(signal.reason);
            });
      const waiter: Waiter = {
        request,
        settle(value) {
          left?.();
          resolve(value);
        },
        reject(reason) {
          left?.();
          reject(reason);
        },
      };
      if (isFirst) this.#waiting.unshift(waiter);
      else this.#waiting.push(waiter);
      if (isFirst || request.deadline < (this.#sleeper?.until ?? -Infinity)) this.wake();
      if (!this.#serving) void this.#serve();
    });
  }

  /** Frees the place of a request. When it has not left, its slot is for the next one. */
  free(place: Place): void {
    if (!this.schedule.free(place)) return;
    if (!place.hasLeft && this.#fleet !== undefined) {
      this.#slot ??= { at: place.at, delayMs: place.gap.delayMs, checkedAt: -Infinity };
    }
    this.wake();
  }

  /** Frees the place of a request at `at`, if nobody does before. */
  freeAt(place: Place, at: number): void {
    place.freeAt = Math.min(place.freeAt, at);
    this.wake();
  }

  /** Whether the request of `place` leaves now. A slot of a fleet cannot be moved, so it must not be late. */
  leave(place: Place, now: number): boolean {
    const lateMs = now - place.at;
    if (this.#fleet !== undefined && lateMs > slotToleranceMs(place.gap.delayMs)) return false;
    return this.schedule.leave(place, now);
  }

  /** Learns what an answer says, and tells the fleet. Returns the pause that it begins or lengthens. */
  learn(signal: PauseSignal): Pause | undefined {
    const pause = this.schedule.learn(signal);
    if (pause === undefined) return undefined;
    void this.#fleet?.pause(this.#origin, pause.until - signal.now);
    this.wake();
    return pause;
  }

  /** The times have changed: looks at the requests that wait again. */
  wake(): void {
    this.#sleeper?.controller.abort(WOKEN);
  }

  close(reason: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
    this.wake();
  }

  /** What becomes of a request with `ahead` others before it: it may go, it is deferred, or (`undefined`) it waits. */
  #decide(request: LineRequest, ahead: number, now: number): Departure | Deferral | undefined {
    const { gap, deadline, booksAhead } = request;
    const due = this.schedule.due(now, request);
    // The gaps of those before it are taken to be as long as its own.
    const at = Math.max(now, due.at) + ahead * gap.delayMs;
    if (at > deadline) return { retryAt: at, delayFrom: due.delayFrom };
    if (booksAhead && ahead > 0 && !this.#waiting.every((waiter) => waiter.request.booksAhead)) {
      return { retryAt: at, delayFrom: due.delayFrom };
    }
    if (due.placeAt > (booksAhead ? at : now)) {
      // Nobody knows when a place will be free, so no time can be booked.
      const waits = !booksAhead && deadline > now;
      return waits ? undefined : { retryAt: Math.max(at, now + gap.delayMs), delayFrom: 'concurrency' };
    }
    return ahead === 0 && (booksAhead || at <= now) ? { at, delayFrom: due.delayFrom } : undefined;
  }

  async #serve(): Promise<void> {
    this.#serving = true;
    try {
      for (let head; (head = this.#settleAll()) !== undefined;) await this.#serveFirst(head.request);
    } catch (error) {
      // A clock that cannot wait.
      this.close(error);
    }
    this.#serving = false;
  }

  /** Lets go whom nothing holds, and defers who would wait too long. Returns who is first then. */
  #settleAll(): Waiter | undefined {
    const now = this.#steady.now();
    for (let index = 0; index < this.#waiting.length;) {
      const { request } = this.#waiting[index]!;
      const result = this.#decide(request, index, now);
      if (result === undefined || ('at' in result && this.#fleet !== undefined)) index++;
      else this.#settle(index, 'at' in result ? this.schedule.take(result, request.gap) : result);
    }
    return this.#waiting[0];
  }

  #settle(index: number, result: Place | Deferral): void {
    for (const waiter of this.#waiting.splice(index, 1)) waiter.settle(result);
  }

  #serveFirst(request: LineRequest): Promise<void> | undefined {
    const now = this.#steady.now();
    const due = this.schedule.due(now, request);
    const dueAt = due.at > now ? due.at : due.placeAt;
    if (this.#fleet === undefined || (dueAt > now && !request.booksAhead))
      return this.#sleepUntil(dueAt, due.at <= now);
    return this.#serveInFleet(request, due.at, this.#fleet);
  }

  /** The next step towards a slot of the fleet for the first request: to book one, to wait for it, or to go. */
  #serveInFleet(request: LineRequest, dueAt: number, fleet: SharedSchedule): Promise<void> | undefined {
    const { gap, deadline, booksAhead } = request;
    const now = this.#steady.now();
    const slot = this.#usableSlot(request, dueAt, now);
    if (slot === undefined) return this.#bookInFleet(request, dueAt, fleet);
    if (slot.at > deadline) {
      return this.askForPause(fleet).then(() => {
        const { delayFrom } = this.schedule.due(this.#steady.now(), request);
        if (this.#waiting[0]?.request === request) this.#settle(0, { retryAt: slot.at, delayFrom });
      });
    }
    const checkedSince = (booksAhead ? now : slot.at) - CHECKED_FOR_MS;
    if (slot.checkedAt < checkedSince) {
      return now < checkedSince ? this.#sleepUntil(checkedSince) : this.askForPause(fleet);
    }
    if (slot.at > now && !booksAhead) return this.#sleepUntil(slot.at);
    const { delayFrom } = this.schedule.due(now, request);
    this.#slot = undefined;
    this.#settle(0, this.schedule.take({ at: slot.at, delayFrom }, gap));
    return undefined;
  }

  #usableSlot({ gap, booksAhead }: LineRequest, dueAt: number, now: number): FleetSlot | undefined {
    const slot = this.#slot;
    if (slot === undefined || slot.delayMs < gap.delayMs || (booksAhead && slot.at < dueAt)) return undefined;
    return now - slot.at > slotToleranceMs(slot.delayMs) ? undefined : slot;
  }

  async #bookInFleet({ gap: { delayMs } }: LineRequest, dueAt: number, fleet: SharedSchedule): Promise<void> {
    const book = async (behindMs: number): Promise<number> => {
      // Without a gap there is nothing to agree on but pauses.
      const waitMs =
        behindMs > 0 ? await fleet.reserve(this.#origin, behindMs) : await fleet.pause(this.#origin, 0);
      // A fleet that cannot be reached leaves each process its own schedule.
      return this.#steady.now() + (waitMs ?? 0);
    };
    let at = await book(delayMs);
    // A slot that is too early stays empty, and the next one is booked as far behind it as needed.
    if (dueAt > at) at = Math.max(dueAt, await book(Math.max(delayMs, Math.ceil(dueAt - at))));
    this.#slot = { at, delayMs, checkedAt: this.#steady.now() };
  }

  /** Learns whether another process of the fleet has paused the origin. */
  async askForPause(fleet: SharedSchedule): Promise<void> {
    const pausedMs = (await fleet.pause(this.#origin, 0)) ?? 0;
    const now = this.#steady.now();
    if (this.#slot !== undefined) this.#slot.checkedAt = now;
    if (pausedMs === 0) return;
    this.schedule.learn({ now, leftAt: undefined, askedMs: pausedMs, backOff: false, random: () => 0 });
    // Slots that were booked before are for nobody now.
    if (this.#slot !== undefined && this.#slot.at < now + pausedMs) this.#slot = undefined;
  }

  /** Waits until `at`, until somebody's wait must end, or until the times have changed. */
  async #sleepUntil(at: number, forPlace = false): Promise<void> {
    const now = this.#steady.now();
    let until = Math.min(at, now + LOOK_AGAIN_MS);
    for (const { request } of this.#waiting)
      if (request.deadline > now) until = Math.min(until, request.deadline);
    if (until <= now) return;
    const controller = new AbortController();
    this.#sleeper = { until, controller };
    try {
      await sleepWith(this.#clock, until - now, controller.signal, forPlace);
    } catch (error) {
      if (error !== WOKEN) throw error;
    } finally {
      this.#sleeper = undefined;
    }
  }

  #remove(waiter: Waiter): void {
    const index = this.#waiting.indexOf(waiter);
    if (index >= 0) this.#waiting.splice(index, 1);
    this.wake();
  }
}
