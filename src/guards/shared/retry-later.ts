import {
  abortSignal,
  type Clock,
  func,
  hasMethod,
  invalid,
  invokeListener,
  milliseconds,
  onAbort,
  optionTable,
  sleepWith,
  systemClock,
  wholeNumber,
} from '../../core/base/index.ts';
import { dropBody } from './response-body.ts';
import { type RetryWait, retryWaitOf, type SiteWait } from './not-now.ts';
import { warnOfSiteWait } from './site-waits.ts';

/** Options of {@link retryLater}. */
export interface RetryLaterOptions {
  /**
   * The longest time in milliseconds of all waits of the task together, and of all tasks for a site that gives no page
   * meanwhile. Past it the last outcome is the result. What a request waits in the queue of its guard does not count:
   * `pacing.maxDelayMs` bounds that. @default 600_000
   */
  readonly maxWaitMs?: number;
  /** The most retries. @default 10 */
  readonly maxRetries?: number;
  /** Ends the wait: the call then rejects with its reason. */
  readonly signal?: AbortSignal;
  /**
   * Called when a wait begins. Without it the process is warned once of a wait of 10 seconds or more for a site that is
   * dead, busy or broken (`CANFETCH_WAITING`).
   */
  readonly onWait?: (wait: SiteWait) => void;
  /** For waits of which no guard knows. @default the clock of the client whose guard was asked, else the system's */
  readonly clock?: Clock;
}

const checkOptions = optionTable({
  maxWaitMs: milliseconds,
  maxRetries: wholeNumber(0, Number.MAX_SAFE_INTEGER, 'a whole number'),
  signal: abortSignal,
  onWait: func('that takes a wait'),
  clock: hasMethod('now', 'a clock'),
});
/** The longest single sleep. */
const MAX_SLEEP_MS = 60 * 60 * 1_000;

/**
 * Runs a task, and runs it again when it ends with "not now": the site answered a paced request with 429 or 503, `pacing`
 * deferred it, or robots.txt is unreachable. It waits until the pause is over, or until `retryAt`. Every other outcome is the
 * result, and so is the last one after `maxRetries` or `maxWaitMs`: a dead site (no such name, nothing listens, a bad
 * certificate) is tried once more, then its refusal is the result. The body of a response that is not the result is dropped.
 * Add the task to the queue inside the callback: while it waits, it then occupies no slot of the queue.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), RobotsClosedError (`ERR_ROBOTS_CLOSED`) when the client
 *   is closed meanwhile, the reason of `signal`, or what the task throws last.
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
  if (typeof task !== 'function') throw invalid('the task', 'a function that returns a promise', task);
  checkOptions(options, '');
  const { maxWaitMs = 600_000, maxRetries = 10, signal } = options;
  let leftMs = maxWaitMs;
  for (let retries = 0; ; retries++) {
    signal?.throwIfAborted();
    const ended = await Promise.resolve(task()).then(
      (value) => ({ value, isError: false }) as const,
      (error: unknown) => ({ error, isError: true }) as const,
    );
    const outcome = ended.isError ? ended.error : ended.value;
    const wait = retryWaitOf(outcome);
    const clock = options.clock ?? wait?.request?.clock ?? systemClock;
    const waitMs = wait === undefined ? Infinity : Math.max(0, wait.until - clock.now());
    if (wait === undefined || retries >= maxRetries || waitMs > leftMs || isTooLong(wait, maxWaitMs, clock)) {
      if (ended.isError) throw ended.error;
      return ended.value;
    }
    leftMs -= waitMs;
    dropBody(outcome);
    dropBody(Reflect.get(Object(outcome), 'response'));
    tell(wait, waitMs, options);
    await waitFor(wait, waitMs, clock, signal);
  }
}

/** Whether the site has given no page for longer than it is waited for. */
function isTooLong({ origin, until, request }: RetryWait, maxWaitMs: number, clock: Clock): boolean {
  if (request === undefined) return false;
  return until - request.patience.waits(origin, clock.now(), until) > maxWaitMs;
}

function tell(wait: RetryWait, waitMs: number, { onWait }: RetryLaterOptions): void {
  const { url, until, cause } = wait;
  if (onWait === undefined) warnOfSiteWait(wait, waitMs);
  else invokeListener('onWait', onWait, { url, until, cause });
}

/** Rejects with the reason of the caller's signal, or that the client is closed. */
async function waitFor(
  { until, ending }: RetryWait,
  waitMs: number,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<void> {
  const leaving = new AbortController();
  const unlisten = [signal, ending].map((each) => {
    if (each === undefined) return undefined;
    if (each.aborted) leaving.abort(each.reason);
    return onAbort(each, () => leaving.abort(each.reason));
  });
  try {
    leaving.signal.throwIfAborted();
    for (let leftMs = waitMs; leftMs > 0;) {
      const sleepMs = Math.min(leftMs, MAX_SLEEP_MS);
      await sleepWith(clock, sleepMs, leaving.signal);
      // A clock that stands still does not make the wait longer.
      leftMs = Math.min(leftMs - sleepMs, until - clock.now());
    }
  } finally {
    for (const each of unlisten) each?.();
  }
}
