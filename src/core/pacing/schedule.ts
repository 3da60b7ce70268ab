import type { DelayFrom, Pause } from '../decision/index.ts';
import type { Gap } from './gap.ts';
import { isWithinCooldown, nextPause, type PauseSignal } from './pause.ts';

/** A request that wants to start. */
export interface Wanted {
  readonly gap: Gap;
  /** The earliest time, by the request for robots.txt. */
  readonly notBefore: number;
}

/** The request has to wait longer than it may. */
export interface Deferral {
  readonly retryAt: number;
  readonly delayFrom: DelayFrom;
}

/** The right of one request to start at a time, and to be in flight until it ends. */
export interface Permit {
  readonly url: string;
  readonly gap: Gap;
  /** When it may start; once it has started, when it did. */
  at: number;
  hasStarted: boolean;
  /** When the permit ends if `done()` is never called. */
  expiresAt: number;
  /** The request has started, and the HTTP stack reports when it is sent: by this time at the latest. */
  sentBefore: number;
  /** The start before this one, in case it is released. */
  before: Permit | undefined;
}

/** The lifetime of a permit whose request is not sent, or whose body is not read. */
export const PERMIT_TTL_MS = 30_000;
/** How long the next start waits for a request that connects. */
const CONNECT_MS = 10_000;
/** How long it waits for one that the library may have dropped: `node:http` reports a request only once it is connected. */
const DROPPED_MS = 1_000;
/** The lifetime of a permit without a response. Some requests never report their end, as when a page is closed. */
const NO_RESPONSE_TTL_MS = 600_000;
/** The least time between two `retryAt`: without it a site with `Crawl-delay: 0` would be asked in a busy loop. */
const MIN_RETRY_MS = 100;
/** The limit to which deferrals may push `retryAt`, so that a program that ignores it does not push it indefinitely. */
const MAX_SPREAD_MS = 3_600_000;

/**
 * The schedule of one origin. Pure: it gets the time as a number that never goes back, and never waits.
 *
 * Two starts are a gap apart, no more requests are in flight than allowed, and none starts during a pause. All three
 * are checked when a permit is acquired, and again at the start: the process may wake up late, or a pause may begin in
 * between.
 */
export class Schedule {
  readonly #permits = new Set<Permit>();
  /** Bookings whose time has not come when they were last counted, in the order of their times. */
  readonly #ahead = new Set<Permit>();
  #last: Permit | undefined;
  #latestPause: Pause | undefined;
  #lastRetryAt = -Infinity;

  /** The earliest start by the gap and by pauses. */
  earliestStart(now: number, { gap, notBefore }: Wanted): number {
    const last = this.#last;
    const byGap =
      last === undefined ? notBefore : Math.max(notBefore, last.at + longer(last.gap, gap).delayMs);
    const pause = this.#latestPause;
    return pause !== undefined && now < pause.until && pause.until > byGap ? pause.until : byGap;
  }

  /** What decides {@link earliestStart}. */
  delayFrom(now: number, wanted: Wanted): Exclude<DelayFrom, 'concurrency'> {
    const at = this.earliestStart(now, wanted);
    const pause = this.pauseAt(now);
    if (pause?.until === at) return pause.delayFrom;
    const last = this.#last;
    return last === undefined || wanted.notBefore === at
      ? wanted.gap.delayFrom
      : longer(last.gap, wanted.gap).delayFrom;
  }

  /** Whether fewer than `concurrency` permits last beyond `at`, and the latest request was sent. */
  hasFreePermit(now: number, at: number, concurrency: number): boolean {
    if (this.#last !== undefined && at < this.#last.sentBefore) return false;
    if (this.#permits.size < concurrency) return true;
    let held = 0;
    for (const permit of this.#permits) {
      if (permit.expiresAt > at) held++;
      else if (permit.expiresAt <= now && this.#permits.delete(permit)) permit.before = undefined;
    }
    return held < concurrency;
  }

  /** The latest end of the first permit, or of the wait for the latest request to be sent. Most end earlier. */
  nextExpiry(now: number): number {
    let next = this.#last !== undefined && now < this.#last.sentBefore ? this.#last.sentBefore : Infinity;
    for (const { expiresAt } of this.#permits) if (expiresAt > now) next = Math.min(next, expiresAt);
    return next;
  }

  /** The clock was set forward by `ms`. That ends gaps and pauses, but no permit: its request is as far as before. */
  setForward(ms: number): void {
    const permits = new Set(this.#permits);
    if (this.#last !== undefined) permits.add(this.#last);
    for (const permit of permits) {
      permit.expiresAt += ms;
      permit.sentBefore += ms;
    }
  }

  /** Gives a permit for that time. Only when {@link earliestStart} and {@link hasFreePermit} allow it. */
  acquire(permit: Permit, at: number, isAhead = false): void {
    permit.at = at;
    permit.expiresAt = at + PERMIT_TTL_MS;
    permit.before = this.#last;
    this.#permits.add(permit);
    this.#last = permit;
    if (isAhead) this.#ahead.add(permit);
  }

  /** Starts the request of a permit now. `false` when it may not start: it then needs another permit. */
  tryStart(permit: Permit, now: number): boolean {
    const last = this.#last === permit ? this.#startedBefore(permit) : this.#last;
    if (now < permit.at || now >= permit.expiresAt || !this.#permits.has(permit)) return false;
    if (this.#latestPause !== undefined && now < this.#latestPause.until) return false;
    if (last !== undefined && now < Math.max(last.sentBefore, last.at + longer(last.gap, permit.gap).delayMs))
      return false;
    permit.at = now;
    permit.hasStarted = true;
    permit.expiresAt = now + NO_RESPONSE_TTL_MS;
    permit.before = undefined;
    this.#last = permit;
    return true;
  }

  /** The start before this one, which may have been sent after this permit was acquired. */
  #startedBefore({ before }: Permit): Permit | undefined {
    return before?.hasStarted === true ? before : undefined;
  }

  /** Forgets the oldest permits that have expired, up to the first that lasts. Its cost is that of one step per permit. */
  forgetExpired(now: number): void {
    for (const permit of this.#permits) {
      if (permit.expiresAt > now) return;
      this.#permits.delete(permit);
      permit.before = undefined;
    }
  }

  /**
   * The HTTP stack has taken the latest request. The next one starts when this one is sent, so that a gap is between them.
   *
   * @param connects Whether time goes by until then.
   */
  taken(permit: Permit, now: number, connects: boolean): void {
    this.#permits.add(permit);
    permit.expiresAt = now + NO_RESPONSE_TTL_MS;
    if (connects) this.#awaitSending(permit, now + CONNECT_MS);
  }

  /** The library may drop a started request without a word. */
  mayBeDropped(permit: Permit, now: number): void {
    this.#awaitSending(permit, now + DROPPED_MS);
  }

  #awaitSending(permit: Permit, until: number): void {
    if (permit === this.#last && permit.gap.delayMs > 0) permit.sentBefore = until;
  }

  /** The request of a started permit was sent. One that is sent after its permit expired is in flight again. */
  sent(permit: Permit, now: number): void {
    this.#permits.add(permit);
    permit.expiresAt = now + NO_RESPONSE_TTL_MS;
    permit.at = Math.max(permit.at, now);
    permit.sentBefore = -Infinity;
  }

  /**
   * Ends a permit. If its request has not started, its time is free again once no later one is booked. Returns whether it
   * was held.
   */
  release(permit: Permit): boolean {
    this.#ahead.delete(permit);
    permit.sentBefore = -Infinity;
    if (!this.#permits.delete(permit)) return false;
    if (!permit.hasStarted) this.#freeTime(permit);
    permit.before = undefined;
    return true;
  }

  /** Once no later start stands, the next one may have this time, in whichever order they are released. */
  #freeTime(permit: Permit): void {
    if (this.#last === permit) this.#last = permit.before;
    else {
      for (const later of this.#permits) {
        if (later.before !== permit) continue;
        later.before = permit.before;
        return;
      }
    }
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
      !this.hasPermitsAt(now) &&
      this.pauseAt(now) === undefined &&
      (this.#last === undefined || now >= this.#last.at + this.#last.gap.delayMs)
    );
  }

  /** Whether the next pause will be longer because of the last one. */
  isWithinCooldown(now: number): boolean {
    return this.#latestPause !== undefined && isWithinCooldown(this.#latestPause, now);
  }

  hasPermitsAt(now: number): boolean {
    for (const { expiresAt } of this.#permits) if (expiresAt > now) return true;
    return false;
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

/** The longer gap of two neighbours counts, so that a new delay applies at once. */
function longer(one: Gap, other: Gap): Gap {
  return one.delayMs > other.delayMs ? one : other;
}
