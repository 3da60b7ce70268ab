import type { Clock } from './clock.ts';

/**
 * The time of a clock that may be set back. It never goes back: when the clock is set back, it continues from the last
 * reading, so that no wait becomes longer. Forward jumps count.
 */
export class MonotonicClock {
  readonly #clock: Clock;
  #shown = -Infinity;
  #aheadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    const now = this.#clock.now();
    if (now < this.#shown) this.#aheadMs += this.#shown - now;
    this.#shown = now;
    return now + this.#aheadMs;
  }

  /** The last reading of the clock. */
  get shown(): number {
    return this.#shown;
  }

  /** Call this after a wait until `until`. If the clock still shows `shown`, as a mocked one does, the time advances without it. */
  advanceFrom(shown: number, until: number): void {
    const now = this.now();
    if (this.#shown === shown && now < until) this.#aheadMs += until - now;
  }

  /** Converts a monotonic time to epoch milliseconds. */
  epochMs(monotonicMs: number): number {
    return monotonicMs - this.#aheadMs;
  }

  /** Converts epoch milliseconds to a monotonic time. */
  monotonicMs(epochMs: number): number {
    return epochMs + this.#aheadMs;
  }
}
