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
