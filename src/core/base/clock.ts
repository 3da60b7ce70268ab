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

export const systemClock: Required<Clock> = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', abort);
        resolve();
      }, ms);
      const abort = (): void => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
    }),
};

/** Calls `task` after `ms`, unless the process has ended before, for which it does not wait. */
export function setBackgroundTimeout(task: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(task, ms);
  // Timers of browsers and Workers are numbers, and keep nothing alive.
  if (typeof timer === 'object') timer.unref();
  return timer;
}

/** Resolves when other work of the event loop has had its turn: `setImmediate`, which browsers and Workers lack. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}

/** After this time a loop yields, so that other requests are served. */
const TIME_SLICE_MS = 10;

/** Divides a long loop, so that other work of the event loop runs. */
export class TimeSlice {
  readonly #signal: AbortSignal | undefined;
  #endsAt = performance.now() + TIME_SLICE_MS;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether it is time to call {@link yield}. */
  get isOver(): boolean {
    return performance.now() > this.#endsAt;
  }

  /** Lets other requests run. Throws the reason of the signal when it is aborted. */
  async yield(): Promise<void> {
    await yieldToEventLoop();
    this.#signal?.throwIfAborted();
    this.#endsAt = performance.now() + TIME_SLICE_MS;
  }
}
