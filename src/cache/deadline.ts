/** What came of it, or that it had not ended in time. */
export type Timed<Value> = { readonly ended: true; readonly value: Value } | { readonly ended: false };

/**
 * Waits for `work` for `ms` milliseconds of real time at most. Rejects as `work` does.
 *
 * @param keepsAlive Whether the process is to go on for as long as this waits.
 */
export function inTime<Value>(
  work: PromiseLike<Value>,
  ms: number,
  keepsAlive: boolean,
): Promise<Timed<Value>> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // After a turn that took long, timers come before the answers that arrived meanwhile: those are still let in.
      setImmediate(() => resolve({ ended: false }));
    }, ms);
    if (!keepsAlive) timer.unref();
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve({ ended: true, value });
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
