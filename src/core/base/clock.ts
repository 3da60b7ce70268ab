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
