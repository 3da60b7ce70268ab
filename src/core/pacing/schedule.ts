import type { Decision, DelayFrom, Pause } from '../decision/index.ts';
import type { Pace } from './options.ts';
import { isWithinCooldown, nextPause, type PauseSignal } from './pause.ts';

/** The time between the starts of two requests to an origin, and what sets it. */
export interface Gap {
  readonly delayMs: number;
  readonly delayFrom: 'crawl-delay' | 'request-rate' | 'default-delay' | 'min-delay' | 'latency';
}

/** A request that wants to start. */
export interface StartRequest {
  readonly gap: Gap;
  /** The earliest time, by the request for robots.txt. */
  readonly notBefore: number;
}

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

/** The right of one request to start at a time, and to be in flight until it ends. */
export interface Permit {
  readonly url: string;
  readonly gap: Gap;
  /** The start of its request. */
  at: number;
  /** When the permit ends if `done()` is never called. */
  expiresAt: number;
  isReleased: boolean;
  /** The start before this one, in case it is released. */
  previousStart: Permit | undefined;
}

/** The lifetime of a booking whose end is never reported, and of a permit whose body is not read. */
export const PERMIT_TTL_MS = 30_000;
/** The lifetime of a permit without a response. Some requests never report their end, as when a page is closed. */
export const NO_RESPONSE_TTL_MS = 600_000;
/** The least time between two `retryAt`: without it a site with `Crawl-delay: 0` would be asked in a busy loop. */
export const MIN_RETRY_MS = 100;
/** The limit to which deferrals may push `retryAt`, so that a program that ignores it does not push it indefinitely. */
const MAX_SPREAD_MS = 3_600_000;

/**
 * When requests of one queue may start. Pure: it gets the time as a number that never goes back, and never waits.
 *
 * Two starts are a gap apart, no more requests are in flight than allowed, and none starts during a pause.
 */
export class Schedule {
  readonly #permits = new Set<Permit>();
  /** Bookings whose time has not come when they were last counted, in the order of their times. */
  readonly #ahead = new Set<Permit>();
  #last: Permit | undefined;
  /** The gap by what the last response took. */
  #latencyGap: Gap | undefined;
  #latestPause: Pause | undefined;
  #lastRetryAt = -Infinity;

  /** The earliest start by the gap and by pauses. */
  earliestStart(now: number, { gap, notBefore }: StartRequest): number {
    const last = this.#last;
    const byGap =
      last === undefined ? notBefore : Math.max(notBefore, last.at + this.#gapAfter(last, gap).delayMs);
    const pause = this.#latestPause;
    return pause !== undefined && now < pause.until && pause.until > byGap ? pause.until : byGap;
  }

  /** What decides {@link earliestStart}, and how long it is. */
  cause(now: number, request: StartRequest): Gap | PauseCause {
    const at = this.earliestStart(now, request);
    const pause = this.pauseAt(now);
    if (pause?.until === at) return { delayFrom: pause.delayFrom, delayMs: pause.until - pause.from };
    const last = this.#last;
    return last === undefined || request.notBefore === at ? request.gap : this.#gapAfter(last, request.gap);
  }

  /** The gap of a request to the one before it. */
  gapOf({ gap }: Pick<StartRequest, 'gap'>): Gap {
    return this.#latencyGap === undefined ? gap : longer(this.#latencyGap, gap);
  }

  #gapAfter(last: Permit, gap: Gap): Gap {
    const longest = longer(last.gap, gap);
    return this.#latencyGap === undefined ? longest : longer(this.#latencyGap, longest);
  }

  /** A response has come: the next starts keep this gap, too. */
  setLatencyGap(delayMs: number): void {
    this.#latencyGap = delayMs > 0 ? { delayMs, delayFrom: 'latency' } : undefined;
  }

  /** Whether fewer than `concurrency` permits last beyond `at`. */
  hasFreePermit(now: number, at: number, concurrency: number): boolean {
    if (this.#permits.size < concurrency) return true;
    let held = 0;
    for (const permit of this.#permits) {
      if (permit.expiresAt > at) held++;
      else if (permit.expiresAt <= now) this.#forget(permit);
    }
    return held < concurrency;
  }

  /** The end of the first permit whose end is not reported. */
  nextExpiry(now: number): number {
    let next = Infinity;
    for (const { expiresAt } of this.#permits) if (expiresAt > now) next = Math.min(next, expiresAt);
    return next;
  }

  /** Gives a permit for a start at that time. Only when {@link earliestStart} and {@link hasFreePermit} allow it. */
  start(permit: Permit, at: number, ttlMs: number, isAhead = false): void {
    permit.at = at;
    permit.expiresAt = at + ttlMs;
    permit.previousStart = this.#last;
    this.#permits.add(permit);
    this.#last = permit;
    if (isAhead) this.#ahead.add(permit);
  }

  /** Forgets the oldest permits that have expired, up to the first that lasts. Its cost is that of one step per permit. */
  forgetExpired(now: number): void {
    for (const permit of this.#permits) {
      if (permit.expiresAt > now) return;
      this.#forget(permit);
    }
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

  /** The `retryAt` of a deferral that could try again at `at`: in the future, and a gap after that of the one before. */
  retryAt(now: number, at: number, { delayMs }: Gap): number {
    const stepMs = Math.max(delayMs, MIN_RETRY_MS);
    const earliest = at > now ? at : now + stepMs;
    const next = Math.min(this.#lastRetryAt + stepMs, earliest + MAX_SPREAD_MS);
    this.#lastRetryAt = this.#lastRetryAt > now ? Math.max(earliest, next) : earliest;
    return this.#lastRetryAt;
  }

  /** Learns what a response says. Returns the pause that it begins or lengthens. */
  learn(signal: PauseSignal): Pause | undefined {
    const pause = nextPause(this.#latestPause, signal);
    this.#latestPause = pause ?? this.#latestPause;
    return pause;
  }

  /** Whether nothing is in flight, and the latest gap and pause are over. */
  isIdleAt(now: number): boolean {
    return (
      this.nextExpiry(now) === Infinity &&
      this.pauseAt(now) === undefined &&
      (this.#last === undefined || now >= this.#last.at + this.gapOf(this.#last).delayMs)
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
    return this.#last?.gap;
  }

  /** The pause in force. */
  pauseAt(now: number): Pause | undefined {
    return this.#latestPause !== undefined && now < this.#latestPause.until ? this.#latestPause : undefined;
  }
}

/** The longest delay that the site states, 0 included; else the default. Never under `minDelayMs`. */
export function gapOf(
  { crawlDelayMs }: Pick<Decision, 'crawlDelayMs'>,
  requestRateMs: number | undefined,
  { defaultDelayMs, minDelayMs }: Pick<Pace, 'defaultDelayMs' | 'minDelayMs'>,
): Gap {
  const gap = statedGap(crawlDelayMs, requestRateMs) ?? {
    delayMs: defaultDelayMs,
    delayFrom: 'default-delay',
  };
  return gap.delayMs < minDelayMs ? { delayMs: minDelayMs, delayFrom: 'min-delay' } : gap;
}

function statedGap(crawlDelayMs: number | undefined, requestRateMs: number | undefined): Gap | undefined {
  if (requestRateMs !== undefined && requestRateMs > (crawlDelayMs ?? -1)) {
    return { delayMs: requestRateMs, delayFrom: 'request-rate' };
  }
  return crawlDelayMs === undefined ? undefined : { delayMs: crawlDelayMs, delayFrom: 'crawl-delay' };
}

/** The longer gap of two neighbours counts, so that a new delay applies at once. */
export function longer(one: Gap, other: Gap): Gap {
  return one.delayMs > other.delayMs ? one : other;
}
