import type { DelayFrom, Pause } from '../decision/index.ts';
import { type Gap, gapAfterNotNow, type LearntGap, learntGapAt, longer } from './gap.ts';
import { isWithinCooldown, nextPause, type PauseSignal } from './pause-length.ts';
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

/** A request for a page, which waits for its start, and then is in flight until it ends. */
export interface Permit {
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
  readonly onExpiry: (() => void) | undefined;
  /** The latest end of its whole wait. */
  deadline: number;
  /** The time at which it became the first of its queue. */
  firstAt: number | undefined;
  /** What decides the time of a booking. */
  delayFrom: DelayFrom;
  /** Its slot in the schedule of the fleet. */
  slot: FleetSlot | undefined;
  /** The start of its request. */
  at: number;
  /** The time from which the gap to the next start counts. */
  countsFrom: number;
  /** Whether the library and the connection are cold: the gap counts from the response header. */
  isCold: boolean;
  /** When the permit ends if its end is never reported. */
  expiresAt: number;
  isReleased: boolean;
  /** The start before this one, in case it is released. */
  previousStart: Permit | undefined;
}

/** A request that wants to start. */
export type StartRequest = Pick<Permit, 'gap' | 'notBefore' | 'gapToRobots'>;

/** The request has to wait longer than it may. */
export interface Deferral {
  readonly retryAt: number;
  readonly delayFrom: DelayFrom;
  /** How long the cause is: a gap, or a whole pause. `undefined` when it is not known. */
  readonly causeMs: number | undefined;
}

/** A pause that decides about a start. */
interface PauseCause {
  readonly delayFrom: Pause['delayFrom'];
  readonly delayMs: number;
}

/** The lifetime of a booking whose end is never reported, and of a permit whose body is not read. */
export const PERMIT_TTL_MS = 30_000;
/** The lifetime of a permit without a response. Some requests never report their end, as when a page is closed. */
export const NO_RESPONSE_TTL_MS = 600_000;
/** After so long without a request the library and the connection of the next one are cold. */
const COLD_AFTER_MS = 5_000;
/** The longest wait for the response header of a cold request. */
const MAX_COLD_MS = 5_000;

/**
 * When requests of one queue may start. Pure: it gets the time as a number that never goes back, and never waits.
 *
 * Two starts are a gap apart, no more requests are in flight than allowed, and none starts during a pause.
 */
export class Starts {
  readonly #permits = new Set<Permit>();
  /** Bookings whose time has not come when they were last counted, in the order of their times. */
  readonly #ahead = new Set<Permit>();
  /** The latest start, or booking. */
  #last: Permit | undefined;
  /** The request that was sent last: it may have had its permit before {@link #last}. */
  #lastSent: Permit | undefined;
  /** The gap by what the last response took. */
  #latencyGap: Gap | undefined;
  /** The gap by the responses that asked to try again later. */
  #learntGap: LearntGap | undefined;
  #latestPause: Pause | undefined;
  readonly #retryTimes = new RetryTimes();

  /** The earliest start by the gap and by pauses. */
  earliestStart(now: number, request: StartRequest): number {
    const byGap = this.#byGap(now, request);
    const pause = this.#latestPause;
    return pause !== undefined && now < pause.until && pause.until > byGap ? pause.until : byGap;
  }

  #byGap(now: number, { gap, notBefore }: StartRequest): number {
    const before = this.#before;
    if (before === undefined) return notBefore;
    return Math.max(notBefore, before.countsFrom + this.#gapAfter(now, before, gap).delayMs);
  }

  /**
   * What decides {@link earliestStart}, and how long it is.
   *
   * @param turn When the request may start behind others: past the earliest start it keeps its gap to them.
   */
  cause(now: number, request: StartRequest, turn: number = -Infinity): Gap | PauseCause {
    const at = this.earliestStart(now, request);
    const pause = this.pauseAt(now);
    if (pause?.until === at) return { delayFrom: pause.delayFrom, delayMs: pause.until - pause.from };
    const before = this.#before;
    if (request.notBefore === at && at > now && turn <= at) return request.gapToRobots;
    return before === undefined ? request.gap : this.#gapAfter(now, before, request.gap);
  }

  /** The start that the next one keeps its gap to. */
  get #before(): Permit | undefined {
    const sent = this.#lastSent;
    return sent !== undefined && sent.countsFrom > (this.#last?.countsFrom ?? -Infinity) ? sent : this.#last;
  }

  /** The gap of a request to the one before it. */
  gapOf(now: number, { gap }: Pick<StartRequest, 'gap'>): Gap {
    return longer(longer(gap, this.#latencyGap), this.#learntGap && learntGapAt(this.#learntGap, now));
  }

  #gapAfter(now: number, before: Permit, gap: Gap): Gap {
    return this.gapOf(now, { gap: longer(before.gap, gap) });
  }

  /** A response has come: the next starts keep this gap, too. */
  setLatencyGap(delayMs: number): void {
    this.#latencyGap = delayMs > 0 ? { delayMs, delayFrom: 'latency' } : undefined;
  }

  /** Whether a request may start now by the permits that are held. The one behind a cold request waits for its header. */
  hasFreeStart(now: number, concurrency: number): boolean {
    return this.#coldUntil(now) === undefined && this.hasFreePermit(now, now, concurrency);
  }

  /** Whether the header of a cold request is awaited, from which the gap will count. */
  awaitsHeader(now: number): boolean {
    return this.#coldUntil(now) !== undefined;
  }

  #coldUntil(now: number): number | undefined {
    const before = this.#before;
    return before?.isCold === true && now < before.at + MAX_COLD_MS ? before.at + MAX_COLD_MS : undefined;
  }

  /** Whether fewer than `concurrency` permits last beyond `at`. */
  hasFreePermit(now: number, at: number, concurrency: number): boolean {
    if (this.#permits.size < concurrency) return true;
    let held = 0;
    for (const permit of this.#permits) {
      if (permit.expiresAt > at) held++;
      else if (permit.expiresAt <= now) this.#expire(permit);
    }
    return held < concurrency;
  }

  /** The end of the first permit whose end is not reported. */
  nextExpiry(now: number): number {
    let next = this.#coldUntil(now) ?? Infinity;
    for (const { expiresAt } of this.#permits) if (expiresAt > now) next = Math.min(next, expiresAt);
    return next;
  }

  /** Gives a permit for a start at that time. Only when {@link earliestStart} and {@link hasFreePermit} allow it. */
  start(permit: Permit, at: number, isAhead = false): void {
    const hasGap = permit.gap.delayMs > 0 && !permit.isBooking;
    permit.isCold = hasGap && at - (this.#before?.countsFrom ?? -Infinity) >= COLD_AFTER_MS;
    permit.at = at;
    permit.countsFrom = at;
    permit.expiresAt = at + permit.ttlMs;
    permit.previousStart = this.#last;
    this.#permits.add(permit);
    this.#last = permit;
    if (isAhead) this.#ahead.add(permit);
  }

  /** The request of a permit is handed to its library now, later than it was allowed to start. */
  sent(permit: Permit, now: number): void {
    if (permit.at === now) return;
    permit.expiresAt += now - permit.at;
    permit.at = permit.countsFrom = now;
    if (permit.countsFrom >= (this.#lastSent?.countsFrom ?? -Infinity)) this.#lastSent = permit;
  }

  /** The header of its response has come, or it has ended. */
  warmedUp(permit: Permit, now: number): void {
    permit.isCold = false;
    permit.countsFrom = now;
  }

  /** Forgets the oldest permits that have expired, up to the first that lasts. Its cost is that of one step per permit. */
  forgetExpired(now: number): void {
    for (const permit of this.#permits) {
      if (permit.expiresAt > now) return;
      this.#expire(permit);
    }
  }

  #expire(permit: Permit): void {
    this.#forget(permit);
    permit.onExpiry?.();
  }

  #forget(permit: Permit): boolean {
    permit.previousStart = undefined;
    return this.#permits.delete(permit);
  }

  /** Ends the permit of a request. Returns whether it was held. */
  end(permit: Permit): boolean {
    this.#ahead.delete(permit);
    return this.#forget(permit);
  }

  /**
   * Ends the permit of a request that is not sent. Its time is free again once no later start is booked. Returns whether it
   * was held.
   */
  release(permit: Permit): boolean {
    permit.isReleased = true;
    if (this.#lastSent === permit) this.#lastSent = undefined;
    this.#ahead.delete(permit);
    while (this.#last?.isReleased === true) this.#last = this.#last.previousStart;
    // A later booking may be released after this one: it then needs the start before both.
    return this.#permits.delete(permit);
  }

  /** The bookings whose time has not come, and the first of these times. */
  bookedAhead(now: number): { readonly count: number; readonly firstAt: number } {
    for (const permit of this.#ahead) {
      if (permit.at > now) return { count: this.#ahead.size, firstAt: permit.at };
      this.#ahead.delete(permit);
    }
    return { count: 0, firstAt: now };
  }

  /** When a deferred request that could start at `at` is to try again. */
  retryAt(now: number, at: number, { delayMs }: Gap): number {
    return this.#retryTimes.next(now, at, delayMs);
  }

  /** Learns what a response says. Returns the pause that it begins or lengthens. */
  learn(signal: PauseSignal): Pause | undefined {
    const pause = nextPause(this.#latestPause, signal);
    this.#latestPause = pause ?? this.#latestPause;
    return pause;
  }

  /** The response to a request asked to try again later, and the pause has begun. The next starts keep a longer gap. */
  learnGap(permit: Permit, now: number, maxMs: number): void {
    const { delayMs } = this.gapOf(now, permit);
    const quietFrom = Math.max(now, this.#latestPause?.until ?? now);
    this.#learntGap = gapAfterNotNow(this.#learntGap, {
      delayMs,
      maxMs,
      startedAt: Math.min(permit.at, now),
      now,
      quietFrom,
    });
  }

  /** Whether nothing is in flight, and the latest gap and pause are over. */
  isIdleAt(now: number): boolean {
    const before = this.#before;
    return (
      this.nextExpiry(now) === Infinity &&
      this.pauseAt(now) === undefined &&
      (before === undefined || now >= before.countsFrom + this.gapOf(now, before).delayMs)
    );
  }

  /** Whether the next pause will be longer because of the last one. */
  isWithinCooldown(now: number): boolean {
    return this.#latestPause !== undefined && isWithinCooldown(this.#latestPause, now);
  }

  /** The requests that have started and not ended. A booking counts from its time on. */
  inFlightAt(now: number): readonly Permit[] {
    return Array.from(this.#permits).filter(({ at, expiresAt }) => at <= now && expiresAt > now);
  }

  /** The gap of the latest start or booking. */
  get lastGap(): Gap | undefined {
    return this.#before?.gap;
  }

  /** The pause in force. */
  pauseAt(now: number): Pause | undefined {
    return this.#latestPause !== undefined && now < this.#latestPause.until ? this.#latestPause : undefined;
  }
}

/** The least time between two `retryAt`: without it a site with `Crawl-delay: 0` would be asked in a busy loop. */
export const MIN_RETRY_MS = 100;
/** The limit to which deferrals may push `retryAt`, so that a program that ignores it does not push it indefinitely. */
const MAX_SPREAD_MS = 3_600_000;
/** A time is taken when another one is nearer than this share of a gap: so much of the pace may stay unused. */
const NEAR_SHARE = 1 / 20;
/** Starts are late by some milliseconds: the time after one comes by this share of a gap later, and is not in vain. */
const LATE_SHARE = 1 / 100;
/** How many times are remembered. Those after them are not known to be taken. */
const MAX_TIMES = 1_000;

/**
 * The times at which deferred requests are to try again. Each has a time of its own, a gap from the others, so that they
 * come one by one. The next possible start has one in any case: those that were given out before may not fit it.
 */
export class RetryTimes {
  /** Those to come, in ascending order. */
  readonly #times: number[] = [];
  /** The last one of all. */
  #last = -Infinity;

  /** The time for a request that can start at `at` at the earliest: in the future. */
  next(now: number, at: number, gapMs: number): number {
    const gapOrMoreMs = Math.max(gapMs, MIN_RETRY_MS);
    const stepMs = gapOrMoreMs * (1 + LATE_SHARE);
    const nearMs = gapOrMoreMs * NEAR_SHARE;
    const earliest = at > now ? at : now + gapOrMoreMs;
    const past = this.#times.findIndex((time) => time > now);
    this.#times.splice(0, past === -1 ? this.#times.length : past);
    let next = earliest;
    let index = 0;
    for (const time of this.#times) {
      if (time >= next + nearMs) break;
      if (time > next - nearMs) next = time + stepMs;
      index++;
    }
    if (index === MAX_TIMES) next = Math.max(next, this.#last + stepMs);
    next = Math.min(next, earliest + MAX_SPREAD_MS);
    this.#last = Math.max(this.#last, next);
    if (this.#times.length < MAX_TIMES) this.#times.splice(index, 0, next);
    return next;
  }
}
