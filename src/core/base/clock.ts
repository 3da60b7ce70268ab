/** The source of time. Give the client one of your own in tests, so that they need not wait. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /**
   * Resolves after `ms`; rejects with the reason of `signal` when it aborts first. Used to wait for a slot, so a
   * virtual clock needs it. Default: a timer.
   *
   * @param isBound `ms` is the deadline of something else that is awaited: a virtual clock should not skip to its end.
   */
  sleep?(ms: number, signal: AbortSignal, isBound?: boolean): Promise<void>;
}

/** Waits with `clock`, or with a timer if the clock cannot wait. */
export function sleepWith(clock: Clock, ms: number, signal: AbortSignal, isBound = false): Promise<void> {
  return clock.sleep === undefined ? systemClock.sleep(ms, signal) : clock.sleep(ms, signal, isBound);
}

/** {@link sleepWith}, for work that need not keep the process alive. */
export function sleepInBackground(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return clock.sleep === undefined || clock === systemClock
    ? systemSleep(ms, signal, false)
    : clock.sleep(ms, signal, true);
}

export const systemClock: Required<Clock> = {
  now: () => Date.now(),
  // A caller awaits this, and an otherwise idle process would end during the await.
  sleep: (ms, signal) => systemSleep(ms, signal, true),
};

function systemSleep(ms: number, signal: AbortSignal, keepsAlive: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    // Timers of browsers and Workers are numbers, and keep nothing alive.
    if (!keepsAlive && typeof timer === 'object') timer.unref();
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
  });
}

/** Resolves when other work of the event loop has had its turn: `setImmediate`, which browsers and Workers lack. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}

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

/** After this time a loop yields, so that other requests are served. */
const TIME_SLICE_MS = 10;

/** Divides a long loop, so that other work of the event loop runs. */
export class TimeSlice {
  readonly #signal: AbortSignal;
  #endsAt = performance.now() + TIME_SLICE_MS;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether it is time to call {@link yield}. */
  get isOver(): boolean {
    return performance.now() > this.#endsAt;
  }

  /** Lets other requests run. Throws the reason of the signal when it is aborted. */
  async yield(): Promise<void> {
    await yieldToEventLoop();
    this.#signal.throwIfAborted();
    this.#endsAt = performance.now() + TIME_SLICE_MS;
  }
}
