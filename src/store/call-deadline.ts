/** What came of it, or that it had not ended in time. */
export type Timed<Value> = { readonly ended: true; readonly value: Value } | { readonly ended: false };

/**
 * The wait is made of so many steps. However late our own process is for one of them, it counts as one: while it was
 * held up, so that it could not have read an answer, nobody else is to blame.
 */
const STEPS = 10;

/**
 * Waits for `work` for `ms` milliseconds of real time at most, those left out in which this process was too busy to
 * notice. Rejects as `work` does.
 *
 * @param keepsAlive Whether the process is to go on for as long as this waits.
 */
export function inTime<Value>(
  work: PromiseLike<Value>,
  ms: number,
  keepsAlive: boolean,
): Promise<Timed<Value>> {
  return new Promise((resolve, reject) => {
    let stepsLeft = Math.min(STEPS, ms);
    const stepMs = ms / stepsLeft;
    let timer: NodeJS.Timeout;
    const step = (): void => {
      timer = setTimeout(() => {
        stepsLeft--;
        if (stepsLeft > 0) step();
        // Timers come before the answers that arrived meanwhile: those are still let in.
        else setImmediate(() => resolve({ ended: false }));
      }, stepMs);
      if (!keepsAlive) timer.unref();
    };
    step();
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
