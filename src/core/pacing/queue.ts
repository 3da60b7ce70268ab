import { onAbort } from '../base/index.ts';
import type { DelayFrom, OriginPacing, Pause } from '../decision/index.ts';
import type { SharedSchedule } from '../store/shared-schedule.ts';
import type { Pace } from './options.ts';
import { Alarm, type PacingClock } from './pacing-clock.ts';
import type { PauseSignal } from './pause.ts';
import {
  type Deferral,
  type Gap,
  longer,
  NO_RESPONSE_TTL_MS,
  type Permit,
  PERMIT_TTL_MS,
  Schedule,
  type StartRequest,
} from './schedule.ts';

/** What all members of a fleet share. */
export type FleetSchedule = Pick<SharedSchedule, 'reserve' | 'pause'>;

/** A time of the fleet's schedule that is ours. It cannot be given back there. */
export interface FleetSlot {
  readonly at: number;
  /** A start after it may come too close to that of another member. */
  readonly latestAt: number;
  readonly delayMs: number;
  /** When the fleet was last asked whether a pause forbids it. */
  lookedAt: number;
}

/** A request for a page, with its permit. */
export interface QueuedRequest extends StartRequest, Permit {
  readonly pace: Pace;
  /** Whether a start is booked for the request, instead of waiting for its time. */
  readonly isBooking: boolean;
  /** The latest end of its whole wait. */
  deadline: number;
  /** The time at which it became the first of its queue. */
  firstAt: number | undefined;
  /** What decides the time of a booking. */
  delayFrom: DelayFrom;
  /** Its slot in the schedule of the fleet. */
  slot: FleetSlot | undefined;
}

/** A request that waits for its permit. */
interface Waiter {
  readonly permit: QueuedRequest;
  /** Settles the promise of the request, with its deferral if it has no permit. */
  readonly resolve: (deferral: Deferral | undefined) => void;
  readonly reject: (reason: unknown) => void;
  /** Stops listening to the signal of the request. */
  unlisten: (() => void) | undefined;
}

/** What a queue has of its pacer. */
export interface QueueContext {
  readonly clock: PacingClock;
  readonly fleet: FleetSchedule | undefined;
  /** Called with a pause that another member of the fleet learnt of. */
  readonly onSharedPause: (queue: PacingQueue, pause: Pause) => void;
}

/** A pause of the fleet is news when it is longer by this: each look at it differs by some milliseconds. */
const LONGER_PAUSE_MS = 1_000;
/** A request may be late for its slot by half the gap, and by this where the gap is short: timers are late, too. */
const MIN_LATE_MS = 50;
/** How late a start may be without a gap, or in a slot that the process gives itself. */
const LATE_WITHOUT_GAP_MS = 1_000;
/** Another member may have paused since: no start by a look at its pauses that is older. */
const LOOK_AGAIN_MS = 250;
/** A reply that takes longer came while this process was stopped, and says nothing of now. */
const STOPPED_MS = 3_000;
/** The longest time by which a call is made earlier because replies are late. */
const MAX_LEAD_MS = 1_000;

/** The requests of this process that share one schedule: those that wait, in order, and those in flight. */
export class PacingQueue {
  #schedule: Schedule = new Schedule();
  /** What its requests share: a host, an origin, or the text of the caller's function. */
  readonly scope: string;
  /** The origin of its latest request. */
  origin: string;
  readonly #context: QueueContext;
  readonly #waiters = new Set<Waiter>();
  #first: Waiter | undefined;
  /** Those behind the first. A new iterator would step over all that have left. */
  #others: Iterator<Waiter, undefined> = this.#waiters.values();
  /** Waiters that want to start; all others want to be booked. */
  #starting = 0;
  /** Another look at the first waiter is due then. */
  readonly #alarm: Alarm;
  /** A slot that is booked in the fleet and not used. */
  #slot: FleetSlot | undefined;
  #isAskingFleet = false;
  /** What the last call of the fleet took: the next one is made earlier by it. */
  #leadMs = 0;
  /** A pause has begun: every waiting request must be checked again. */
  #mustRecheckAll = false;
  /** The earliest deadline of the waiting requests, or an earlier time. */
  #nextDeadline = Infinity;

  constructor(scope: string, origin: string, context: QueueContext) {
    this.scope = scope;
    this.origin = origin;
    this.#context = context;
    this.#alarm = new Alarm(context.clock, (error) =>
      error === undefined ? this.#serve() : this.close(error),
    );
  }

  get schedule(): Schedule {
    return this.#schedule;
  }

  /** Forgets gaps, pauses and what is in flight. Requests that wait go on. */
  reset(): void {
    this.#schedule = new Schedule();
    this.#slot = undefined;
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
    const { schedule } = this;
    const gap = schedule.gapOf({ gap: this.#first?.permit.gap ?? schedule.lastGap ?? unknown });
    const request = { gap, notBefore: -Infinity };
    const earliest = schedule.earliestStart(now, request);
    let at = Math.max(now, earliest);
    let drainsAt = now;
    let last: Gap | undefined;
    for (const { permit } of this.#waiters) {
      const own = schedule.gapOf(permit);
      if (last !== undefined) at += longer(last, own).delayMs;
      drainsAt = at;
      last = own;
    }
    const nextAt = at + (last?.delayMs ?? 0);
    const waitsForPermit = this.waiting > 0 && earliest <= now && schedule.inFlightAt(now).length > 0;
    const delayFrom = waitsForPermit ? 'concurrency' : schedule.cause(now, request).delayFrom;
    return { nextAt, drainsAt, gapMs: gap.delayMs, delayFrom };
  }

  /** Whether no request waits, and no time of the schedule is to come. */
  isIdleAt(now: number): boolean {
    return this.waiting === 0 && this.schedule.isIdleAt(now);
  }

  /**
   * Starts or books a request when its turn and its time have come. Synchronous when that is now, and without a
   * fleet. Rejects only with the reason of `signal`, or of {@link close}.
   *
   * @param now The time of the call.
   * @returns the deferral; `undefined` when the request has its permit.
   */
  acquire(
    permit: QueuedRequest,
    now: number,
    signal: AbortSignal | undefined,
  ): Deferral | undefined | Promise<Deferral | undefined> {
    signal?.throwIfAborted();
    if (this.waiting === 0) permit.firstAt = now;
    const decided = this.#decide(permit, this.waiting, now);
    if (typeof decided === 'object') return decided;
    if (decided <= now || permit.isBooking) {
      if (this.#context.fleet === undefined) {
        this.#grant(permit, decided, now);
        return undefined;
      }
    }
    return this.#wait(permit, signal);
  }

  /** Ends the permit of a request. */
  end(permit: QueuedRequest): void {
    if (this.schedule.end(permit) && this.#alarm.isBound) this.#serveSoon();
  }

  /** Ends the permit of a request that is not sent: its time is for the next one. */
  release(permit: QueuedRequest): void {
    if (!this.schedule.release(permit)) return;
    this.#slot ??= permit.slot;
    this.#serveSoon();
  }

  /** The permit of a request ends at `at`, if nothing is reported before. */
  expire(permit: QueuedRequest, at: number): void {
    permit.expiresAt = at;
    if (this.#alarm.isBound && at < this.#alarm.at) this.#serveSoon();
  }

  /** Learns what a response says, and shares a pause with the fleet. Returns the pause that it begins or lengthens. */
  learn(signal: PauseSignal): Pause | undefined {
    const pause = this.schedule.learn(signal);
    if (pause === undefined) return undefined;
    void this.#context.fleet?.pause(this.scope, pause.until - signal.now, pause.delayFrom);
    this.#mustRecheckAll = true;
    this.#serve();
    return pause;
  }

  /** Learns whether another member of the fleet has paused these requests. */
  async askForPause(): Promise<void> {
    this.#learnShared((await this.#context.fleet?.pause(this.scope, 0))?.pauseMs ?? 0);
  }

  #learnShared(pausedMs: number): void {
    if (pausedMs === 0) return;
    const now = this.#context.clock.now();
    const knownUntil = this.schedule.pauseAt(now)?.until ?? -Infinity;
    const signal = { now, startedAt: undefined, askedMs: pausedMs, backOff: false, random: () => 0 } as const;
    const pause = this.schedule.learn(signal);
    if (pause === undefined) return;
    this.#mustRecheckAll = true;
    if (pause.until - knownUntil >= LONGER_PAUSE_MS) this.#context.onSharedPause(this, pause);
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
  #decide(permit: QueuedRequest, ahead: number, now: number): number | Deferral {
    const { pace, deadline, firstAt = now } = permit;
    const earliest = Math.max(now, this.schedule.earliestStart(now, permit));
    // The gaps of those before it are taken to be as long as its own.
    const { delayMs } = this.schedule.gapOf(permit);
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
    if (this.schedule.hasFreePermit(now, now, pace.concurrency)) return now;
    if (now >= latest) return this.#defer(permit, now, now, 'concurrency');
    return Math.min(this.schedule.nextExpiry(now), latest);
  }

  #decideBooking(permit: QueuedRequest, ahead: number, now: number, at: number): number | Deferral {
    const { pace, deadline } = permit;
    // A booking does not go before requests that wait.
    if (at > deadline || (ahead > 0 && this.#starting > 0)) return this.#defer(permit, now, at);
    if (pace.ahead === undefined) {
      if (!this.schedule.hasFreePermit(now, at, pace.concurrency))
        return this.#defer(permit, now, at, 'concurrency');
    } else {
      // Nothing else does, because bookings ahead do not count permits.
      this.schedule.forgetExpired(now);
      const { count, firstAt } = this.schedule.bookedAhead(now);
      if (at > now && count >= pace.ahead) return this.#defer(permit, now, firstAt);
    }
    return at;
  }

  #defer(permit: QueuedRequest, now: number, at: number, cause?: 'concurrency'): Deferral {
    const gap = this.schedule.gapOf(permit);
    const retryAt = this.schedule.retryAt(now, at, gap);
    // Without a gap, and with nothing else to wait for, it waits for the request before it: for its gap, or its permit.
    const isFree = gap.delayMs === 0 && this.schedule.earliestStart(now, permit) <= now;
    const blocking = isFree ? (this.#first?.permit ?? permit) : permit;
    const waitsForPermit = isFree && this.schedule.earliestStart(now, blocking) <= now;
    if (cause !== undefined || waitsForPermit)
      return { retryAt, delayFrom: 'concurrency', causeMs: undefined };
    const { delayFrom, delayMs } = this.schedule.cause(now, blocking);
    return { retryAt, delayFrom, causeMs: delayMs };
  }

  #grant(permit: QueuedRequest, at: number, now: number): void {
    if (permit.isBooking) permit.delayFrom = this.schedule.cause(now, permit).delayFrom;
    const ttlMs = permit.isBooking ? PERMIT_TTL_MS : NO_RESPONSE_TTL_MS;
    this.schedule.start(permit, at, ttlMs, permit.isBooking && at > now);
  }

  #wait(permit: QueuedRequest, signal: AbortSignal | undefined): Promise<Deferral | undefined> {
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
    if (this.#isAskingFleet) return;
    const { clock, fleet } = this.#context;
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
        return this.#alarm.set(at, this.schedule.earliestStart(now, permit) <= now);
      } else if (fleet !== undefined) {
        if (!this.#serveInFleet(waiter, fleet, decided, now)) return;
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
  #nextStep({ isBooking, pace }: QueuedRequest, start: number, now: number): number {
    if (isBooking || start <= now) return now;
    const waitsForGap = this.#leadMs > 0 && this.schedule.hasFreePermit(now, now, pace.concurrency);
    return waitsForGap ? start - this.#leadMs : start;
  }

  /** Starts or books the first request in a slot of the fleet. `false` when it has to wait for one. */
  #serveInFleet(waiter: Waiter, fleet: FleetSchedule, earliest: number, now: number): boolean {
    const { permit } = waiter;
    const { pace, deadline, firstAt = now, isBooking } = permit;
    const { delayMs } = this.schedule.gapOf(permit);
    const lastStart = isBooking ? deadline : Math.min(deadline, firstAt + pace.maxDelayMs);
    const slot = this.#slot;
    if (slot === undefined || slot.delayMs < delayMs || slot.latestAt < earliest) {
      void this.#bookSlot(waiter, fleet, earliest - now, lastStart - now);
      return false;
    }
    if (slot.at > lastStart) {
      this.#settle(waiter, this.#defer(permit, now, slot.at));
      return true;
    }
    const start = Math.max(slot.at, earliest);
    if (!isBooking) {
      const isOld = Math.max(now, start) - slot.lookedAt > LOOK_AGAIN_MS;
      const next = isOld ? start - this.#leadMs : start;
      if (next > now) this.#alarm.set(Math.min(next, this.#nextDeadline), false);
      else if (isOld) void this.#lookAgain(permit, fleet, slot);
      if (next > now || isOld) return false;
    }
    this.#slot = undefined;
    permit.slot = slot;
    this.#grant(permit, start, now);
    this.#settle(waiter, undefined);
    return true;
  }

  /** Books a slot of the fleet for the first request. */
  async #bookSlot(waiter: Waiter, fleet: FleetSchedule, minWaitMs: number, maxWaitMs: number): Promise<void> {
    const { permit } = waiter;
    const { delayMs } = this.schedule.gapOf(permit);
    const lateMs = delayMs === 0 ? LATE_WITHOUT_GAP_MS : Math.max(MIN_LATE_MS, delayMs / 2);
    // Where a reply comes too late for a slot of now, only a later one is of use.
    const aheadMs = this.#leadMs > lateMs ? Math.max(0, this.#leadMs - minWaitMs) : 0;
    const bounds = { minWaitMs: minWaitMs + aheadMs, maxWaitMs: Math.max(0, maxWaitMs) + aheadMs };
    const {
      value: booked,
      askedAt,
      now,
    } = await this.#ask(permit, () => fleet.reserve(this.scope, delayMs, bounds));
    permit.deadline += aheadMs;
    permit.firstAt = (permit.firstAt ?? askedAt) + aheadMs;
    const tookMs = now - askedAt;
    this.#learnShared(booked?.pauseMs ?? 0);
    if (booked !== undefined && booked.waitMs > bounds.maxWaitMs) {
      this.#settle(waiter, this.#defer(permit, now, now + booked.waitMs));
    } else if (booked !== undefined) {
      // The store counted from some time between the call and its reply. It must not be taken to be much later.
      const askedFor = askedAt + booked.waitMs;
      const at = askedFor + Math.min(tookMs / 2, delayMs / 3);
      this.#slot = { at, latestAt: askedFor + lateMs, delayMs, lookedAt: lookedAt(askedAt, now) };
    } else if (tookMs <= STOPPED_MS) {
      // A fleet that cannot be reached leaves each process its own schedule.
      const at = Math.max(now, askedAt + minWaitMs);
      this.#slot = { at, latestAt: at + LATE_WITHOUT_GAP_MS, delayMs, lookedAt: at };
    }
    this.#serve();
  }

  /** Learns of a pause that the fleet has begun since the slot was booked. */
  async #lookAgain(permit: QueuedRequest, fleet: FleetSchedule, slot: FleetSlot): Promise<void> {
    const { value: paused, askedAt, now } = await this.#ask(permit, () => fleet.pause(this.scope, 0));
    slot.lookedAt = lookedAt(askedAt, now);
    this.#learnShared(paused?.pauseMs ?? 0);
    this.#serve();
  }

  /** One call of the fleet at a time, for the first request. The time that it takes is no wait. */
  async #ask<Value>(
    permit: QueuedRequest,
    call: () => Promise<Value>,
  ): Promise<{ readonly value: Value; readonly askedAt: number; readonly now: number }> {
    const { clock } = this.#context;
    const askedAt = clock.now();
    this.#isAskingFleet = true;
    const value = await call();
    this.#isAskingFleet = false;
    const now = clock.now();
    const tookMs = now - askedAt;
    this.#leadMs = Math.min(tookMs, MAX_LEAD_MS);
    permit.deadline += tookMs;
    permit.firstAt = (permit.firstAt ?? askedAt) + tookMs;
    return { value, askedAt, now };
  }
}

/** From when on a reply says nothing of pauses. One that was late is good for a start that follows at once. */
function lookedAt(askedAt: number, now: number): number {
  return now - askedAt > STOPPED_MS ? askedAt : Math.max(askedAt, now - LOOK_AGAIN_MS + MIN_LATE_MS);
}
