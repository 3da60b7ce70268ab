import { nextTurn } from '../base/index.ts';

/** The result of a call, or that it did not end in time. */
export type Timed<Value> = { readonly ended: true; readonly value: Value } | { readonly ended: false };

/**
 * The wait is divided into steps. A late step counts as one, however late: while our own process was blocked it could
 * not read an answer, and that is not the store's fault.
 */
const STEPS = 10;

/**
 * Waits for `work` for at most `ms` milliseconds of real time, without the time in which this process was blocked.
 * Rejects as `work` does.
 *
 * @param keepsAlive Whether the wait keeps the process alive.
 */
export function inTime<Value>(
  work: PromiseLike<Value>,
  ms: number,
  keepsAlive: boolean,
): Promise<Timed<Value>> {
  return new Promise((resolve, reject) => {
    let stepsLeft = Math.min(STEPS, ms);
    const stepMs = ms / stepsLeft;
    let timer: ReturnType<typeof setTimeout>;
    const step = (): void => {
      timer = setTimeout(() => {
        stepsLeft--;
        if (stepsLeft > 0) step();
        // Timers run before the answers that have arrived meanwhile, so allow those one more turn.
        else void nextTurn().then(() => resolve({ ended: false }));
      }, stepMs);
      // Timers of browsers and Workers are numbers, and keep nothing alive.
      if (!keepsAlive && typeof timer === 'object') timer.unref();
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
