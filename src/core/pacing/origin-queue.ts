import { type Clock, type MonotonicClock, onAbort } from '../base/index.ts';
import type { Decision, DelayFrom, Pause } from '../decision/index.ts';
import type { Gap } from './gap.ts';
import { type FleetSchedule, type FleetSlot, FleetSlots, type Punctuality } from './fleet-slots.ts';
import type { Pace } from './options.ts';
import type { PauseSignal } from './pause.ts';
import { type Deferral, type Permit, Schedule, type Wanted } from './schedule.ts';
import { Sleeper } from './sleeper.ts';
import { type Waiter, WaitingList } from './waiting-list.ts';

/** A request for a page, with the permit that it waits for. */
export interface PacedRequest extends Wanted, Permit {
  readonly decision: Decision;
  readonly pace: Pace;
  readonly queue: OriginQueue;
  /** Whether a future permit is booked for the request, instead of waiting for its time. */
  readonly isBooking: boolean;
  /** The latest end of its whole wait. */
  deadline: number;
  /** Its number among the requests to its origin. */
  turn: number;
  /** The time at which it became the first of its queue. */
  firstAt: number | undefined;
  /** What decides the time of a booking. */
  delayFrom: DelayFrom;
  /** Its slot in the schedule of the fleet. */
  slot: FleetSlot | undefined;
  /** When it started. It may be sent later. */
  startedAt: number | undefined;
}

type PacedWaiter = Waiter<PacedRequest>;

/** A pause of the fleet is news when it is longer by this: each look at it differs by some milliseconds. */
const LONGER_PAUSE_MS = 1_000;
/** A request asks the fleet for pauses at most this long before its start. */
const PAUSE_CHECK_MS = 200;

/** The requests of this process to one origin: those that wait, in order, and the loop that starts them. */
export class OriginQueue {
  readonly schedule: Schedule = new Schedule();
  readonly #monotonic: MonotonicClock;
  readonly #slots: FleetSlots | undefined;
  readonly #onSharedPause: (pause: Pause) => void;
  readonly #sleeper: Sleeper;
  readonly #waiters = new WaitingList<PacedRequest>();
  #turns = 0;
  #isServing = false;
  /** A pause has begun: every waiting request must be checked again. */
  #mustRecheckAll = false;
  /** The earliest deadline of the waiting requests, or an earlier time. */
  #nextDeadline = Infinity;

  /** @param onSharedPause Called with a pause that another member of the fleet learnt of. */
  constructor(
    origin: string,
    clock: Clock,
    monotonic: MonotonicClock,
    fleet: FleetSchedule | undefined,
    punctuality: Punctuality,
    onSharedPause: (pause: Pause) => void,
  ) {
    this.#sleeper = new Sleeper(clock, monotonic);
    this.#monotonic = monotonic;
    this.#onSharedPause = onSharedPause;
    this.#slots = fleet && new FleetSlots(origin, monotonic, fleet, punctuality);
  }

  /** The number of requests that wait. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /**
   * The earliest start of a request made now.
   *
   * @param unknown The gap of a queue that had no request yet.
   */
  nextStart(now: number, unknown: Gap): { at: number; gapMs: number; delayFrom: DelayFrom } {
    const first = this.#waiters.first?.request;
    const gap = first?.gap ?? this.schedule.lastGap ?? unknown;
    const wanted = { gap, notBefore: -Infinity };
    const earliest = this.schedule.earliestStart(now, wanted);
    const waitsForPermit = first !== undefined && earliest <= now;
    return {
      at: Math.max(now, earliest) + this.waiting * gap.delayMs,
      gapMs: gap.delayMs,
      delayFrom: waitsForPermit ? 'concurrency' : this.schedule.delayFrom(now, wanted),
    };
  }

  /** Whether no request waits, and no time of the schedule is to come. */
  isIdleAt(now: number): boolean {
    return this.waiting === 0 && this.schedule.isIdleAt(now);
  }

  /** The end of its pause, when nothing else depends on the queue. */
  onlyPausesUntil(now: number): number | undefined {
    return this.waiting > 0 || this.schedule.hasPermitsAt(now)
      ? undefined
      : this.schedule.pauseAt(now)?.until;
  }

  /**
   * Acquires the permit of a request, when its turn and its time have come. Synchronous when that is now, and without a
   * fleet. Rejects only with the reason of `signal`, or of {@link close}.
   *
   * @param now The time of the call.
   * @param again The request lost its permit, so it goes before all others.
   * @returns the deferral; `undefined` when the request has its permit.
   */
  acquire(
    request: PacedRequest,
    now: number,
    signal: AbortSignal | undefined,
    again = false,
  ): Deferral | undefined | Promise<Deferral | undefined> {
    signal?.throwIfAborted();
    const isFirst = again || this.waiting === 0;
    if (isFirst) request.firstAt ??= now;
    if (!again) request.turn = this.#turns++;
    const decided = this.#decide(request, isFirst ? 0 : this.waiting, now);
    if (typeof decided === 'object') return decided;
    if (decided !== undefined && this.#slots === undefined) {
      this.#grant(request, decided, now);
      return undefined;
    }
    return this.#wait(request, signal, again);
  }

  /** Ends the permit of a request. If it has not started, its time is for the next one. */
  release(request: PacedRequest): void {
    if (!this.schedule.release(request)) return;
    if (!request.hasStarted && request.slot !== undefined) this.#slots?.keep(request.slot);
    if (!request.hasStarted || this.#sleeper.isForPermit) this.#sleeper.wake();
  }

  /** The clock was set forward by `ms`. */
  setForward(ms: number): void {
    this.schedule.setForward(ms);
    this.#sleeper.wake();
  }

  /** The permit of a request ends at `at`, if `release` is not called before. */
  expire(request: PacedRequest, at: number): void {
    request.expiresAt = at;
    if (this.#sleeper.isForPermit && at < this.#sleeper.until) this.#sleeper.wake();
  }

  /** A started request was sent: later than it started, while its library connected or the process was busy. */
  sent(request: PacedRequest, now: number): void {
    const wasAwaited = request.sentBefore > now;
    this.schedule.sent(request, now);
    this.noticeDelay(request, now);
    if (wasAwaited && this.#sleeper.isForPermit) this.#sleeper.wake();
  }

  /** The response to a started request has come. Its permit ends at `at`, if `release` is not called before. */
  responded(request: PacedRequest, at: number): void {
    const wasAwaited = request.sentBefore > request.at;
    request.sentBefore = -Infinity;
    request.expiresAt = at;
    if (this.#sleeper.isForPermit && (wasAwaited || at < this.#sleeper.until)) this.#sleeper.wake();
  }

  /** Notes how late a request used its slot of the fleet. */
  noticeDelay({ slot }: PacedRequest, now: number): void {
    if (slot !== undefined) this.#slots?.late(slot, now);
  }

  /** Starts a request now. `false` when it may not start: it then needs another permit. */
  tryStart(request: PacedRequest, now: number): boolean {
    const { slot } = request;
    // The slots around a missed one belong to other members.
    if (slot !== undefined && now > slot.latestAt) {
      this.#slots?.missed(now - slot.latestAt);
      request.slot = undefined;
      return false;
    }
    if (!this.schedule.tryStart(request, now)) return false;
    request.startedAt = now;
    if (slot !== undefined) this.#slots?.used(slot, now);
    return true;
  }

  /** Learns what a response says, and shares a pause with the fleet. Returns the pause that it begins or lengthens. */
  learn(signal: PauseSignal): Pause | undefined {
    const pause = this.schedule.learn(signal);
    if (pause === undefined) return undefined;
    this.#slots?.share(pause.until - signal.now);
    this.#mustRecheckAll = true;
    this.#sleeper.wake();
    return pause;
  }

  /** Learns whether another member of the fleet has paused the origin. */
  async askForPause(): Promise<void> {
    const pausedMs = (await this.#slots?.pausedMs()) ?? 0;
    if (pausedMs === 0) return;
    const now = this.#monotonic.now();
    const signal = { now, startedAt: undefined, askedMs: pausedMs, backOff: false, random: () => 0 } as const;
    const knownUntil = this.schedule.pauseAt(now)?.until ?? -Infinity;
    const pause = this.schedule.learn(signal);
    if (pause === undefined) return;
    this.#mustRecheckAll = true;
    if (pause.until - knownUntil >= LONGER_PAUSE_MS) this.#onSharedPause(pause);
  }

  close(reason: unknown): void {
    for (const waiter of this.#waiters) {
      this.#waiters.remove(waiter);
      waiter.unlisten?.();
      waiter.reject(reason);
    }
    this.#sleeper.wake();
  }

  /**
   * What becomes of a request with `ahead` others before it: the time for which it may have a permit now, its deferral,
   * or `undefined` when it waits.
   */
  #decide(request: PacedRequest, ahead: number, now: number): number | Deferral | undefined {
    const { gap, pace, deadline, firstAt = now } = request;
    const earliest = Math.max(now, this.schedule.earliestStart(now, request));
    // The gaps of those before it are taken to be as long as its own.
    const turn = earliest + ahead * gap.delayMs;
    if (request.isBooking) return this.#decideBooking(request, ahead, now, turn);
    if (turn > deadline) return this.#defer(request, now, turn);
    if (ahead > 0) {
      const imposedMs = Math.max(earliest - now, gap.delayMs);
      return pace.maxDelayMs === 0 || imposedMs > pace.maxDelayMs || now >= deadline
        ? this.#defer(request, now, turn)
        : undefined;
    }
    if (earliest > now) {
      return earliest - firstAt > pace.maxDelayMs ? this.#defer(request, now, turn) : undefined;
    }
    if (this.schedule.hasFreePermit(now, now, pace.concurrency)) return now;
    const waitsUntil = Math.min(firstAt + pace.maxDelayMs, deadline);
    return now >= waitsUntil ? this.#defer(request, now, now, 'concurrency') : undefined;
  }

  #decideBooking(
    request: PacedRequest,
    ahead: number,
    now: number,
    at: number,
  ): number | Deferral | undefined {
    const { pace, deadline } = request;
    // A booking does not go before requests that wait.
    if (at > deadline || (ahead > 0 && !this.#waiters.hasOnlyBookings)) return this.#defer(request, now, at);
    if (pace.ahead === undefined) {
      if (!this.schedule.hasFreePermit(now, at, pace.concurrency))
        return this.#defer(request, now, at, 'concurrency');
    } else {
      // Nothing else does, because bookings ahead do not count permits.
      this.schedule.forgetExpired(now);
      const { count, firstAt } = this.schedule.bookedAhead(now);
      if (at > now && count >= pace.ahead) return this.#defer(request, now, firstAt);
    }
    return ahead === 0 ? at : undefined;
  }

  #defer(request: PacedRequest, now: number, at: number, cause?: DelayFrom): Deferral {
    // Without a gap, and with nothing else to wait for, the requests before it wait for a permit.
    const waitsForPermit = request.gap.delayMs === 0 && this.schedule.earliestStart(now, request) <= now;
    const delayFrom = cause ?? (waitsForPermit ? 'concurrency' : this.schedule.delayFrom(now, request));
    return { retryAt: this.schedule.retryAt(now, at, request.gap), delayFrom };
  }

  #grant(request: PacedRequest, at: number, now: number): void {
    if (request.isBooking) request.delayFrom = this.schedule.delayFrom(now, request);
    this.schedule.acquire(request, at, request.isBooking && at > now);
  }

  #wait(
    request: PacedRequest,
    signal: AbortSignal | undefined,
    again: boolean,
  ): Promise<Deferral | undefined> {
    return new Promise((resolve, reject) => {
      const waiter: PacedWaiter = {
        request,
        resolve,
        reject,
        unlisten: undefined,
        previous: undefined,
        next: undefined,
      };
      if (signal !== undefined) {
        waiter.unlisten = onAbort(signal, () => {
          const wasFirst = this.#waiters.first === waiter;
          if (!this.#waiters.remove(waiter)) return;
          if (wasFirst) this.#sleeper.wake();
          reject(signal.reason);
        });
      }
      if (again) this.#waiters.insert(waiter);
      else this.#waiters.append(waiter);
      this.#nextDeadline = Math.min(this.#nextDeadline, request.deadline);
      if (again || request.deadline < this.#sleeper.until) this.#sleeper.wake();
      if (!this.#isServing) void this.#serve();
    });
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    try {
      for (let first; (first = this.#waiters.first) !== undefined;) await this.#serveFirst(first);
    } catch (error) {
      // A clock that cannot wait.
      this.close(error);
    }
    this.#isServing = false;
  }

  /** The next step for the first request: its permit, its deferral, or a wait. */
  #serveFirst(waiter: PacedWaiter): Promise<void> | undefined {
    const { request } = waiter;
    const now = this.#monotonic.now();
    request.firstAt ??= now;
    if (this.#mustRecheckAll || now >= this.#nextDeadline) this.#deferAll(now);
    if (this.#waiters.first !== waiter) return undefined;
    const decided = this.#decide(request, 0, now);
    if (typeof decided === 'object') return this.#settle(waiter, decided);
    if (decided === undefined) return this.#sleepForFirst(request, now);
    if (this.#slots !== undefined) return this.#serveInFleet(waiter, this.#slots, decided, now);
    this.#grant(request, decided, now);
    return this.#settle(waiter, undefined);
  }

  /** Defers every waiting request that would have to wait too long. */
  #deferAll(now: number): void {
    this.#mustRecheckAll = false;
    this.#nextDeadline = Infinity;
    let ahead = 0;
    for (const waiter of this.#waiters) {
      const decided = this.#decide(waiter.request, ahead, now);
      if (typeof decided === 'object') {
        this.#settle(waiter, decided);
        continue;
      }
      ahead++;
      this.#nextDeadline = Math.min(this.#nextDeadline, waiter.request.deadline);
    }
  }

  #settle(waiter: PacedWaiter, deferral: Deferral | undefined): undefined {
    if (!this.#waiters.remove(waiter)) return;
    waiter.unlisten?.();
    waiter.resolve(deferral);
  }

  /** The next step towards a slot of the fleet for the first request: to book one, to wait for it, or to use it. */
  #serveInFleet(
    waiter: PacedWaiter,
    slots: FleetSlots,
    earliest: number,
    now: number,
  ): Promise<void> | undefined {
    const { request } = waiter;
    const slot = slots.usable(request.gap.delayMs, earliest, now);
    if (slot === undefined) return this.#bookInFleet(waiter, slots, earliest - now, now);
    const lastStart = request.isBooking
      ? request.deadline
      : Math.min(request.deadline, (request.firstAt ?? now) + request.pace.maxDelayMs);
    if (slot.at > lastStart) return this.#settle(waiter, this.#defer(request, now, slot.at));
    const checkedSince = (request.isBooking ? now : slot.at) - PAUSE_CHECK_MS;
    if (slot.checkedAt < checkedSince) {
      return now < checkedSince ? this.#sleeper.sleepUntil(checkedSince, now) : this.askForPause();
    }
    if (slot.at > now && !request.isBooking) return this.#sleeper.sleepUntil(slot.at, now);
    slots.take();
    request.slot = slot;
    this.#grant(request, Math.max(slot.at, earliest), now);
    return this.#settle(waiter, undefined);
  }

  async #bookInFleet(waiter: PacedWaiter, slots: FleetSlots, minWaitMs: number, now: number): Promise<void> {
    const { request } = waiter;
    const { gap, pace, deadline, firstAt = now } = request;
    if (gap.delayMs === 0) {
      await this.askForPause();
      slots.startAt(now + minWaitMs);
      return this.#discountStore(request, now);
    }
    const maxWaitMs = (request.isBooking ? deadline : Math.min(deadline, firstAt + pace.maxDelayMs)) - now;
    const tooLongMs = await slots.book(gap.delayMs, { minWaitMs, maxWaitMs: Math.max(0, maxWaitMs) });
    if (tooLongMs === undefined) {
      if (slots.isBooked) this.#discountStore(request, now);
      return;
    }
    // Another member may have paused the origin: that is then the cause.
    await this.askForPause();
    const later = this.#monotonic.now();
    this.#settle(waiter, this.#defer(request, later, later + tooLongMs));
  }

  /** A slot was booked within the bounds of a request's wait. The time that the store took since `askedAt` adds to them. */
  #discountStore(request: PacedRequest, askedAt: number): void {
    const tookMs = this.#monotonic.now() - askedAt;
    request.deadline += tookMs;
    request.firstAt = (request.firstAt ?? askedAt) + tookMs;
  }

  #sleepForFirst(request: PacedRequest, now: number): Promise<void> | undefined {
    const earliest = this.schedule.earliestStart(now, request);
    if (earliest > now) return this.#sleeper.sleepUntil(Math.min(earliest, this.#nextDeadline), now);
    const { firstAt = now, pace } = request;
    const until = Math.min(this.schedule.nextExpiry(now), firstAt + pace.maxDelayMs, this.#nextDeadline);
    return this.#sleeper.sleepUntil(until, now, true);
  }
}
