import type { Clock } from './clock.ts';

/** A clock that advances further than the time that has gone by was set forward. Less is the inaccuracy of two clocks. */
const MIN_JUMP_MS = 1_000;

/**
 * The time of a clock that may be set back. It never goes back: when the clock is set back, it continues from the last
 * reading, so that no wait becomes longer. Forward jumps count.
 */
export class MonotonicClock {
  readonly #clock: Clock;
  readonly #onJump: ((ms: number) => void) | undefined;
  #shown = -Infinity;
  #aheadMs = 0;
  /** The time of the process at the last reading. */
  #readAt = 0;
  #sleeping = 0;

  /**
   * @param onJump Called by a reading, when the clock was set forward by `ms` since the last one. Only for a clock whose time
   * goes by as that of the process does.
   */
  constructor(clock: Clock, onJump?: (ms: number) => void) {
    this.#clock = clock;
    this.#onJump = onJump;
  }

  now(): number {
    return this.#read(0);
  }

  /** @param passedMs At least this time has gone by since the last reading. */
  #read(passedMs: number): number {
    const before = this.#shown;
    const now = this.#clock.now();
    if (now < before) this.#aheadMs += before - now;
    this.#shown = now;
    if (this.#onJump !== undefined) {
      const elapsedMs = performance.now() - this.#readAt;
      const stands = now === before && this.#sleeping > 0;
      const countedMs = stands ? Math.floor(elapsedMs) : elapsedMs;
      this.#readAt += countedMs;
      if (stands) this.#aheadMs += countedMs;
      const jumpMs = now - before - Math.max(passedMs, elapsedMs);
      if (jumpMs > MIN_JUMP_MS && before !== -Infinity) this.#onJump(jumpMs);
    }
    return now + this.#aheadMs;
  }

  /** A wait begins, until {@link wake}. Meanwhile the time advances also while the clock stands still, as a mocked one does. */
  sleep(): void {
    this.#read(0);
    this.#sleeping++;
  }

  wake(): void {
    this.#read(0);
    this.#sleeping--;
  }

  /** The last reading of the clock. */
  get shown(): number {
    return this.#shown;
  }

  /**
   * Call this after a wait of `ms` until `until`. If the clock still shows `shown`, as a mocked one does, the time advances
   * without it.
   */
  advanceFrom(shown: number, until: number, ms: number): void {
    const now = this.#read(ms);
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
