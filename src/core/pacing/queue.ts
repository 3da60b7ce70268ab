import { onAbort } from '../base/index.ts';
import type { OriginPacing, Pause } from '../decision/index.ts';
import type { StorePause } from '../store/store.ts';
import { type Fleet, type FleetReply, FleetSlots } from './fleet-slots.ts';
import { type Gap, longer } from './gap.ts';
import { Alarm, type PacingClock } from './pacing-clock.ts';
import type { PauseSignal } from './pause-length.ts';
import { type Permit, type Deferral, Starts } from './starts.ts';

/** A request that waits for its permit. */
interface Waiter {
  readonly permit: Permit;
  /** Settles the promise of the request, with its deferral if it has no permit. */
  readonly resolve: (deferral: Deferral | undefined) => void;
  readonly reject: (reason: unknown) => void;
  /** Stops listening to the signal of the request. */
  unlisten: (() => void) | undefined;
}

export interface QueueOptions {
  readonly clock: PacingClock;
  readonly fleet: Fleet | undefined;
  /** Called with a pause that another member of the fleet learnt of. */
  readonly onSharedPause: (queue: PacingQueue, pause: Pause) => void;
}

/** A pause of the fleet is news when it is longer by this: each look at it differs by some milliseconds. */
const LONGER_PAUSE_MS = 1_000;

/** The requests of this process that share one schedule: those that wait, in order, and those in flight. */
export class PacingQueue {
  #starts: Starts = new Starts();
  /** What its requests share: a host, an origin, or the text of the caller's function. */
  readonly scope: string;
  /** The origin of its latest request. */
  origin: string;
  readonly #options: QueueOptions;
  readonly #waiters = new Set<Waiter>();
  #first: Waiter | undefined;
  /** Those behind the first. A new iterator would step over all that have left. */
  #others: Iterator<Waiter, undefined> = this.#waiters.values();
  /** Waiters that want to start; all others want to be booked. */
  #starting = 0;
  /** Another look at the first waiter is due then. */
  readonly #alarm: Alarm;
  readonly #slots: FleetSlots | undefined;
  /** A pause has begun: every waiting request must be checked again. */
  #mustRecheckAll = false;
  /** The earliest deadline of the waiting requests, or an earlier time. */
  #nextDeadline = Infinity;

  constructor(scope: string, origin: string, options: QueueOptions) {
    this.scope = scope;
    this.origin = origin;
    this.#options = options;
    this.#slots = options.fleet && new FleetSlots(options.fleet, scope, options.clock);
    this.#alarm = new Alarm(options.clock, (error) =>
      error === undefined ? this.#serve() : this.close(error),
    );
  }

  get starts(): Starts {
    return this.#starts;
  }

  /** Forgets gaps, pauses and what is in flight. Requests that wait go on. */
  reset(): void {
    this.#starts = new Starts();
    this.#slots?.take();
    this.#mustRecheckAll = true;
    this.#serve();
  }

  /** The number of requests that wait. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Whether the first of them waits for the end of a request in flight. */
  get waitsForEnd(): boolean {
    return this.#alarm.isBound;
  }

  /**
   * The earliest start of a request made now.
   *
   * @param unknown The gap of a queue that had no request yet.
   */
  nextStart(now: number, unknown: Gap): Pick<OriginPacing, 'nextAt' | 'drainsAt' | 'gapMs' | 'delayFrom'> {
    const { starts } = this;
    const first = this.#first?.permit;
    const gap = starts.gapOf(now, { gap: first?.gap ?? starts.lastGap ?? unknown });
    const request = { gap, notBefore: -Infinity, gapToRobots: gap };
    const earliest = starts.earliestStart(now, request);
    let at = Math.max(now, earliest);
    let drainsAt = now;
    let last: Gap | undefined;
    for (const { permit } of this.#waiters) {
      const own = starts.gapOf(now, permit);
      if (last !== undefined) at += longer(last, own).delayMs;
      drainsAt = at;
      last = own;
    }
    const nextAt = at + (last?.delayMs ?? 0);
    const isDue = first !== undefined && earliest <= now && starts.inFlightAt(now).length > 0;
    const waitsForPermit = isDue && !this.#waitsForHeader(first, now);
    const delayFrom = waitsForPermit ? 'concurrency' : starts.cause(now, request).delayFrom;
    return { nextAt, drainsAt, gapMs: gap.delayMs, delayFrom };
  }

  /** Whether no request waits, and no time of the schedule is to come. */
  isIdleAt(now: number): boolean {
    return this.waiting === 0 && this.starts.isIdleAt(now);
  }

  /**
   * Starts or books a request when its turn and its time have come. Synchronous when that is now, and without a
   * fleet. Rejects only with the reason of `signal`, or of {@link close}.
   *
   * @param now The time of the call.
   * @returns the deferral; `undefined` when the request has its permit.
   */
  acquire(
    permit: Permit,
    now: number,
    signal: AbortSignal | undefined,
  ): Deferral | undefined | Promise<Deferral | undefined> {
    signal?.throwIfAborted();
    if (this.waiting === 0) permit.firstAt = now;
    const decided = this.#decide(permit, this.waiting, now);
    if (typeof decided === 'object') return decided;
    if (decided <= now || permit.isBooking) {
      if (this.#slots === undefined) {
        this.#grant(permit, decided, now);
        return undefined;
      }
    }
    return this.#wait(permit, signal);
  }

  /** The request of a permit is handed to its library now. */
  sent(permit: Permit): void {
    this.starts.sent(permit, this.#options.clock.now());
  }

  /** The header of a response has come, or the request has ended: the library and the connection are warm. */
  warmedUp(permit: Permit): void {
    if (!permit.isCold) return;
    this.starts.warmedUp(permit, this.#options.clock.now());
    if (this.waiting > 0) this.#serveSoon();
  }

  /** Ends the permit of a request. */
  end(permit: Permit): void {
    this.warmedUp(permit);
    if (this.starts.end(permit) && this.#alarm.isBound) this.#serveSoon();
  }

  /** Ends the permit of a request that is not sent: its time is for the next one. */
  release(permit: Permit): void {
    if (!this.starts.release(permit)) return;
    this.#slots?.giveBack(permit.slot);
    this.#serveSoon();
  }

  /** The permit of a request ends at `at`, if nothing is reported before. */
  expire(permit: Permit, at: number): void {
    permit.expiresAt = at;
    if (this.#alarm.isBound && at < this.#alarm.at) this.#serveSoon();
  }

  /** Learns what a response says, and shares a pause with the fleet. Returns the pause that it begins or lengthens. */
  pause(signal: PauseSignal): Pause | undefined {
    const pause = this.starts.learn(signal);
    if (pause === undefined) return undefined;
    this.#slots?.pause(pause.until - signal.now, pause.delayFrom);
    this.#mustRecheckAll = true;
    this.#serve();
    return pause;
  }

  /** Learns whether another member of the fleet has paused these requests. */
  async askForPause(): Promise<void> {
    this.#learnShared(await this.#slots?.askForPause());
  }

  #learnShared({ pauseMs: askedMs, cause }: StorePause = { pauseMs: 0 }): void {
    if (askedMs === 0) return;
    const now = this.#options.clock.now();
    const knownUntil = this.starts.pauseAt(now)?.until ?? -Infinity;
    const signal = { now, startedAt: undefined, askedMs, cause, backOff: false, random: () => 0 } as const;
    const pause = this.starts.learn(signal);
    if (pause === undefined) return;
    this.#mustRecheckAll = true;
    if (pause.until - knownUntil >= LONGER_PAUSE_MS) this.#options.onSharedPause(this, pause);
  }

  close(reason: unknown): void {
    for (const waiter of this.#waiters) {
      this.#remove(waiter);
      waiter.reject(reason);
    }
    this.#alarm.clear();
  }

  /**
   * What becomes of a request with `ahead` others before it: its deferral, the time for which it can be started or booked
   * now, or a time to look at it again.
   */
  #decide(permit: Permit, ahead: number, now: number): number | Deferral {
    const { pace, deadline, firstAt = now } = permit;
    const earliest = Math.max(now, this.starts.earliestStart(now, permit));
    // The gaps of those before it are taken to be as long as its own.
    const { delayMs } = this.starts.gapOf(now, permit);
    const turn = earliest + ahead * delayMs;
    if (permit.isBooking) return this.#decideBooking(permit, ahead, now, turn);
    if (turn > deadline) return this.#defer(permit, now, turn);
    if (ahead > 0) {
      const imposedMs = Math.max(earliest - now, delayMs);
      const isTooLong = pace.maxDelayMs === 0 || imposedMs > pace.maxDelayMs || now >= deadline;
      return isTooLong ? this.#defer(permit, now, turn) : Infinity;
    }
    const latest = Math.min(firstAt + pace.maxDelayMs, deadline);
    if (earliest > now) return earliest > latest ? this.#defer(permit, now, turn) : earliest;
    if (this.starts.hasFreeStart(now, pace.concurrency)) return now;
    if (now >= latest)
      return this.#defer(permit, now, now, this.#waitsForHeader(permit, now) ? undefined : 'concurrency');
    return Math.min(this.starts.nextExpiry(now), latest);
  }

  #decideBooking(permit: Permit, ahead: number, now: number, at: number): number | Deferral {
    const { pace, deadline } = permit;
    // A booking does not go before requests that wait.
    if (at > deadline || (ahead > 0 && this.#starting > 0)) return this.#defer(permit, now, at);
    if (pace.ahead === undefined) {
      if (!this.starts.hasFreePermit(now, at, pace.concurrency))
        return this.#defer(permit, now, at, 'concurrency');
    } else {
      // Nothing else does, because bookings ahead do not count permits.
      this.starts.forgetExpired(now);
      const { count, firstAt } = this.starts.bookedAhead(now);
      if (at > now && count >= pace.ahead) return this.#defer(permit, now, firstAt);
    }
    return at;
  }

  #defer(permit: Permit, now: number, at: number, cause?: 'concurrency'): Deferral {
    const gap = this.starts.gapOf(now, permit);
    const retryAt = this.starts.retryAt(now, at, gap);
    // Without a gap, and with nothing else to wait for, it waits for the request before it: for its gap, or its permit.
    const isFree = gap.delayMs === 0 && this.starts.earliestStart(now, permit) <= now;
    const blocking = isFree ? (this.#first?.permit ?? permit) : permit;
    const isDue = isFree && this.starts.earliestStart(now, blocking) <= now;
    const waitsForPermit = isDue && !this.#waitsForHeader(blocking, now);
    if (cause !== undefined || waitsForPermit)
      return { retryAt, delayFrom: 'concurrency', causeMs: undefined };
    const { delayFrom, delayMs } = this.starts.cause(now, blocking, retryAt);
    return { retryAt, delayFrom, causeMs: delayMs };
  }

  /** Whether there is a permit, but a cold request has no header yet: the gap has not begun. */
  #waitsForHeader({ pace }: Permit, now: number): boolean {
    return this.starts.awaitsHeader(now) && this.starts.hasFreePermit(now, now, pace.concurrency);
  }

  #grant(permit: Permit, at: number, now: number): void {
    if (permit.isBooking) permit.delayFrom = this.starts.cause(now, permit).delayFrom;
    this.starts.start(permit, at, permit.isBooking && at > now);
  }

  #wait(permit: Permit, signal: AbortSignal | undefined): Promise<Deferral | undefined> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { permit, resolve, reject, unlisten: undefined };
      if (signal !== undefined) {
        waiter.unlisten = onAbort(signal, () => {
          const wasFirst = this.#first === waiter;
          if (!this.#remove(waiter)) return;
          reject(signal.reason);
          if (wasFirst) this.#serve();
        });
      }
      this.#waiters.add(waiter);
      if (this.#first === undefined) {
        this.#others = this.#waiters.values();
        this.#first = this.#others.next().value;
      }
      if (!permit.isBooking) this.#starting++;
      const isSooner = permit.deadline < this.#nextDeadline;
      if (isSooner) this.#nextDeadline = permit.deadline;
      if (isSooner || this.waiting === 1) this.#serve();
    });
  }

  /** Returns whether it was waiting. */
  #remove(waiter: Waiter): boolean {
    if (!this.#waiters.delete(waiter)) return false;
    if (this.#first === waiter) this.#first = this.#others.next().value;
    if (!waiter.permit.isBooking) this.#starting--;
    waiter.unlisten?.();
    return true;
  }

  #settle(waiter: Waiter, deferral: Deferral | undefined): void {
    if (this.#remove(waiter)) waiter.resolve(deferral);
  }

  /** After the code that runs now: what ended a request may be a 429, which is reported next. */
  #serveSoon(): void {
    queueMicrotask(() => this.#serve());
  }

  /** Starts, books and defers requests, up to the first that has to wait. */
  #serve(): void {
    if (this.#slots?.isAsking === true) return;
    const { clock } = this.#options;
    for (let waiter; (waiter = this.#first) !== undefined;) {
      const { permit } = waiter;
      const now = clock.now();
      permit.firstAt ??= now;
      if (this.#mustRecheckAll || now >= this.#nextDeadline) this.#deferAll(now);
      if (this.#first !== waiter) continue;
      const decided = this.#decide(permit, 0, now);
      if (typeof decided === 'object') this.#settle(waiter, decided);
      else if (this.#nextStep(permit, decided, now) > now) {
        const at = Math.min(this.#nextStep(permit, decided, now), this.#nextDeadline);
        const awaitsOther = this.starts.awaitsHeader(now) || this.starts.earliestStart(now, permit) <= now;
        return this.#alarm.set(at, awaitsOther);
      } else if (this.#slots !== undefined) {
        if (!this.#serveInFleet(waiter, this.#slots, decided, now)) return;
      } else {
        this.#grant(permit, decided, now);
        this.#settle(waiter, undefined);
      }
    }
    this.#alarm.clear();
  }

  /** Defers every waiting request that would have to wait too long. */
  #deferAll(now: number): void {
    this.#mustRecheckAll = false;
    this.#nextDeadline = Infinity;
    let ahead = 0;
    for (const waiter of this.#waiters) {
      const decided = this.#decide(waiter.permit, ahead, now);
      if (typeof decided === 'object') {
        this.#settle(waiter, decided);
        continue;
      }
      ahead++;
      this.#nextDeadline = Math.min(this.#nextDeadline, waiter.permit.deadline);
    }
  }

  /** When to go on with a request that can start at `start`. The fleet is asked earlier, so that its reply is in time. */
  #nextStep({ isBooking, pace }: Permit, start: number, now: number): number {
    if (isBooking || start <= now) return now;
    const leadMs = this.#slots?.leadMs ?? 0;
    return leadMs > 0 && this.starts.hasFreeStart(now, pace.concurrency) ? start - leadMs : start;
  }

  /** Starts or books the first request in a slot of the fleet. `false` when it has to wait for one. */
  #serveInFleet(waiter: Waiter, slots: FleetSlots, earliest: number, now: number): boolean {
    const { permit } = waiter;
    const { pace, deadline, firstAt = now, isBooking } = permit;
    const { delayMs } = this.starts.gapOf(now, permit);
    const lastStart = isBooking ? deadline : Math.min(deadline, firstAt + pace.maxDelayMs);
    const slot = slots.slotFor(delayMs, earliest);
    if (slot === undefined) {
      void this.#goOnAfter(slots.book(delayMs, earliest - now, lastStart - now, isBooking), waiter);
      return false;
    }
    if (slot.at > lastStart) {
      this.#settle(waiter, this.#defer(permit, now, slot.at));
      return true;
    }
    const start = Math.max(slot.at, earliest);
    if (!isBooking) {
      const { at, looks } = slots.nextStep(slot, start, now);
      if (at > now) this.#alarm.set(Math.min(at, this.#nextDeadline), false);
      else if (looks) void this.#goOnAfter(slots.lookAgain(slot), waiter);
      if (at > now || looks) return false;
    }
    slots.take();
    permit.slot = slot;
    this.#grant(permit, start, now);
    this.#settle(waiter, undefined);
    return true;
  }

  async #goOnAfter(asking: Promise<FleetReply>, waiter: Waiter): Promise<void> {
    const { pause, storeMs, freeAt } = await asking;
    const now = this.#options.clock.now();
    const { permit } = waiter;
    permit.deadline += storeMs;
    permit.firstAt = (permit.firstAt ?? now) + storeMs;
    this.#learnShared(pause);
    if (freeAt !== undefined) this.#settle(waiter, this.#defer(permit, now, freeAt));
    this.#serve();
  }
}
