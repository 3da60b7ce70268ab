import {
  type Clock,
  milliseconds,
  optionTable,
  sleepWith,
  systemClock,
  wholeNumber,
  abortSignal,
  hasMethod,
} from '../../core/base/index.ts';
import { refusalIn } from './refusal-errors.ts';

/** Options of {@link retryLater}. */
export interface RetryLaterOptions {
  /** The longest wait for one retry, in milliseconds. A refusal with a later `retryAt` is the result. @default 3_600_000 */
  readonly maxWaitMs?: number;
  /** The most retries. @default 10 */
  readonly maxRetries?: number;
  /** Ends the wait: the call then rejects with its reason. */
  readonly signal?: AbortSignal;
  /** For tests. @default the system's clock */
  readonly clock?: Clock;
}

const checkOptions = optionTable({
  maxWaitMs: milliseconds,
  maxRetries: wholeNumber(0, Number.MAX_SAFE_INTEGER, 'a whole number'),
  signal: abortSignal,
  clock: hasMethod('now', 'a clock'),
});
/** The longest single sleep. */
const MAX_SLEEP_MS = 60 * 60 * 1_000;

/**
 * Runs a task. If it ends with a refusal that has a `retryAt` (robots.txt is unreachable, or `pacing` deferred the request),
 * runs it again at that time. Other errors, and refusals without `retryAt`, are the result. Add the task to the queue
 * inside the callback: while it waits for `retryAt`, it then occupies no slot of the queue.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), the reason of `signal`, or what the task throws last.
 *
 * @example
 * ```ts
 * const queue = new PQueue({ concurrency: 20 });
 * const visit = (url: string) => retryLater(() => queue.add(() => fetchPolitely(url)));
 * const responses = await Promise.all(urls.map(visit));
 * ```
 */
export async function retryLater<Result>(
  task: () => Promise<Result>,
  options: RetryLaterOptions = {},
): Promise<Result> {
  checkOptions(options, '');
  const { maxWaitMs = 3_600_000, maxRetries = 10, clock = systemClock } = options;
  const signal = options.signal ?? new AbortController().signal;
  for (let retries = 0; ; retries++) {
    signal.throwIfAborted();
    const ended = await task().then(
      (value) => ({ value, isError: false }) as const,
      (error: unknown) => ({ error, isError: true }) as const,
    );
    const refusal = refusalIn(ended.isError ? ended.error : ended.value);
    const retryAt = refusal !== undefined && 'retryAt' in refusal ? refusal.retryAt : undefined;
    let leftMs = (retryAt ?? Infinity) - clock.now();
    if (retryAt === undefined || retries >= maxRetries || leftMs > maxWaitMs) {
      if (ended.isError) throw ended.error;
      return ended.value;
    }
    while (leftMs > 0) {
      const sleepMs = Math.min(leftMs, MAX_SLEEP_MS);
      await sleepWith(clock, sleepMs, signal);
      // A clock that stands still does not make the wait longer.
      leftMs = Math.min(leftMs - sleepMs, retryAt - clock.now());
    }
  }
}
