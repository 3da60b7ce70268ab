import { type Clock, sleepWith, systemClock } from '../base/index.ts';

/** Longest single sleep: the clock may be set, or the machine suspended, meanwhile. */
const MAX_SLEEP_MS = 60_000;

/**
 * The time of a clock. It never goes back: when the clock is set back, it continues from the last
 * reading, so that no wait becomes longer. Forward jumps count.
 */
export class PacingClock {
  readonly clock: Clock;
  /** Whether waits are timers: a clock of a test may have its own. */
  readonly #hasTimers: boolean;
  #shown = -Infinity;
  #aheadMs = 0;

  constructor(clock: Clock) {
    this.clock = clock;
    this.#hasTimers = clock === systemClock || clock.sleep === undefined;
  }

  now(): number {
    const shown = this.clock.now();
    if (shown < this.#shown) this.#aheadMs += this.#shown - shown;
    this.#shown = shown;
    return shown + this.#aheadMs;
  }

  /** For lengths of time: no change of the clock makes them longer. */
  ticks(): number {
    return this.#hasTimers ? performance.now() : this.now();
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
   * Timers have reached `until`. If the clock still shows `shown`, as a mocked `Date` does, the time advances without it.
   */
  passed(shown: number, until: number): void {
    const now = this.now();
    if (this.#shown === shown && now < until) this.#aheadMs += until - now;
  }

  /** The last reading of the clock itself. */
  get shown(): number {
    return this.#shown;
  }
}

/** Calls `wake` once, at the time that was set last or earlier; with the error of a clock that cannot wait. */
export class Alarm {
  readonly #clock: PacingClock;
  readonly #wake: (error?: unknown) => void;
  #cancel: (() => void) | undefined;
  /** When it goes off; `Infinity` when it does not. */
  at: number = Infinity;
  /** Whether the end of another request is awaited, at most until then. */
  isBound: boolean = false;

  constructor(clock: PacingClock, wake: (error?: unknown) => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  set(at: number, isBound: boolean): void {
    if (at === this.at && isBound === this.isBound) return;
    this.clear();
    this.at = at;
    this.isBound = isBound;
    const now = this.#clock.now();
    // Since version 21, Node warns of negative timers.
    const ms = Math.max(0, Math.min(at - now, MAX_SLEEP_MS));
    const { shown } = this.#clock;
    const ended = (error?: unknown): void => {
      this.#cancel = undefined;
      this.clear();
      if (error === undefined) this.#clock.passed(shown, now + ms);
      this.#wake(error);
    };
    const controller = new AbortController();
    const { signal } = controller;
    const startedAt = this.#clock.ticks();
    this.#cancel = () => {
      controller.abort();
      this.#clock.passed(shown, now + this.#clock.ticks() - startedAt);
    };
    sleepWith(this.#clock.clock, ms, signal, isBound).then(
      () => signal.aborted || ended(),
      (error: unknown) => signal.aborted || ended(error),
    );
  }

  clear(): void {
    const cancel = this.#cancel;
    this.#cancel = undefined;
    this.at = Infinity;
    this.isBound = false;
    cancel?.();
  }
}
