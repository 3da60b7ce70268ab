/** Where the time comes from. Given to the client so that tests need not wait. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /**
   * Resolves after `ms`; rejects with the reason of `signal` when that is aborted first. Used where somebody waits
   * for a slot; a clock that does not run by itself needs one. Default: a timer.
   */
  sleep?(ms: number, signal: AbortSignal): Promise<void>;
}

/** Waits by `clock`, or by a timer if it has no way to wait. */
export function sleepBy(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return clock.sleep === undefined ? systemClock.sleep(ms, signal) : clock.sleep(ms, signal);
}

export const systemClock: Required<Clock> = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      // Not unref'd: somebody awaits this, and a process with nothing else to do would end under their await.
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
