import { type Clock, sleepWith, systemClock } from '../base/index.ts';

/** Longest single sleep: the clock may be set, or the machine suspended, meanwhile. */
const MAX_SLEEP_MS = 60_000;

/**
 * The time of a clock, and waits by it. The time never goes back: when the clock is set back, it continues from the last
 * reading, so that no wait becomes longer. Forward jumps count.
 */
export class PacingClock {
  readonly #clock: Clock;
  readonly #hasTimers: boolean;
  #shown = -Infinity;
  #aheadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#hasTimers = clock === systemClock || clock.sleep === undefined;
  }

  now(): number {
    const shown = this.#clock.now();
    if (shown < this.#shown) this.#aheadMs += this.#shown - shown;
    this.#shown = shown;
    return shown + this.#aheadMs;
  }

  /** Converts a time of this clock to epoch milliseconds. */
  epochMs(ms: number): number {
    return ms - this.#aheadMs;
  }

  /** Converts epoch milliseconds to a time of this clock. */
  fromEpochMs(epochMs: number): number {
    return epochMs + this.#aheadMs;
  }

  /**
   * Calls `wake` once, at `at` or earlier; with the error of a clock that cannot wait.
   *
   * @param isBound The end of another request is awaited, at most until then.
   * @returns cancels the call.
   */
  wakeAt(at: number, isBound: boolean, wake: (error?: unknown) => void): () => void {
    const now = this.now();
    const shown = this.#shown;
    const ms = Math.min(at - now, MAX_SLEEP_MS);
    if (this.#hasTimers) {
      const startedAt = performance.now();
      const timer = setTimeout(() => {
        this.#passed(shown, now + ms);
        wake();
      }, ms);
      return () => {
        clearTimeout(timer);
        this.#passed(shown, now + performance.now() - startedAt);
      };
    }
    const cancelling = new AbortController();
    const { signal } = cancelling;
    sleepWith(this.#clock, ms, signal, isBound).then(
      () => {
        if (signal.aborted) return;
        this.#passed(shown, now + ms);
        wake();
      },
      (error: unknown) => {
        if (!signal.aborted) wake(error);
      },
    );
    return () => cancelling.abort();
  }

  /** Timers have reached `until`. If the clock still shows `shown`, as a mocked `Date` does, the time advances without it. */
  #passed(shown: number, until: number): void {
    const now = this.now();
    if (this.#shown === shown && now < until) this.#aheadMs += until - now;
  }
}
