import {
  causesOf,
  type Clock,
  ignore,
  invalid,
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
  /** The longest wait for one retry, in milliseconds. An outcome with a later time is the result. @default 3_600_000 */
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

/** On what a library shows of a response: the request of the guard. Registered, for another copy of this package. */
export const GUARDED_REQUEST: unique symbol = Symbol.for('canfetch.guarded-request');

/** Marks what a library shows of a response that asks to try again later. */
export function markRetryAt(
  outcome: object | undefined,
  request: { readonly retryAt: number | undefined },
): void {
  if (outcome === undefined || request.retryAt === undefined) return;
  Object.defineProperty(outcome, GUARDED_REQUEST, { value: request, configurable: true });
}

/**
 * When to try a request again, for job queues. It takes what the request ended with, of any library: a response, an
 * error, or the reason of a refusal.
 *
 * @returns Epoch ms, for a response or error of a paced request that the site answered with 429 or 503 (or another status
 *   of `backOff.statuses`), for a deferral, and while robots.txt is unreachable. `undefined` for everything else: the request
 *   is over.
 *
 * @example
 * ```ts
 * const outcome = await fetchPolitely('https://example.com/page').catch((error: unknown) => error);
 * const retryAt = retryAtOf(outcome);
 * if (retryAt !== undefined) await job.moveToDelayed(retryAt);
 * ```
 */
export function retryAtOf(outcome: unknown): number | undefined {
  const refusal = refusalIn(outcome);
  if (refusal !== undefined) return 'retryAt' in refusal ? refusal.retryAt : undefined;
  for (const each of causesOf(outcome)) {
    const retryAt = markOn(each) ?? markOn(Reflect.get(each, 'response'));
    if (retryAt !== undefined) return retryAt;
  }
  return undefined;
}

/** Of undici's responses the guard sees the context, of those of axios over `fetch` the request. */
function markOn(response: unknown): number | undefined {
  if (typeof response !== 'object' || response === null) return undefined;
  for (const name of [undefined, 'context', 'headers', 'request']) {
    const part: unknown = name === undefined ? response : Reflect.get(response, name);
    const retryAt: unknown = Reflect.get(Object(Reflect.get(Object(part), GUARDED_REQUEST)), 'retryAt');
    if (typeof retryAt === 'number') return retryAt;
  }
  return undefined;
}

/**
 * Runs a task, and runs it again when it ends with "not now": the site answered a paced request with 429 or 503, `pacing`
 * deferred it, or robots.txt is unreachable. It waits until the pause is over, or until `retryAt`. Every other outcome is the
 * result, and so is the last one after `maxRetries`. The body of a response that is not the result is dropped. Add the task to
 * the queue inside the callback: while it waits, it then occupies no slot of the queue.
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
  if (typeof task !== 'function') throw invalid('the task', 'a function that returns a promise', task);
  checkOptions(options, '');
  const { maxWaitMs = 3_600_000, maxRetries = 10, clock = systemClock } = options;
  const signal = options.signal ?? new AbortController().signal;
  for (let retries = 0; ; retries++) {
    signal.throwIfAborted();
    const ended = await task().then(
      (value) => ({ value, isError: false }) as const,
      (error: unknown) => ({ error, isError: true }) as const,
    );
    const outcome = ended.isError ? ended.error : ended.value;
    const retryAt = retryAtOf(outcome);
    let leftMs = (retryAt ?? Infinity) - clock.now();
    if (retryAt === undefined || retries >= maxRetries || leftMs > maxWaitMs) {
      if (ended.isError) throw ended.error;
      return ended.value;
    }
    dropBody(outcome);
    dropBody(Reflect.get(Object(outcome), 'response'));
    while (leftMs > 0) {
      const sleepMs = Math.min(leftMs, MAX_SLEEP_MS);
      await sleepWith(clock, sleepMs, signal);
      // A clock that stands still does not make the wait longer.
      leftMs = Math.min(leftMs - sleepMs, retryAt - clock.now());
    }
  }
}

/** Frees the connection of a response that will not be read, of `fetch`, undici or axios. */
function dropBody(response: unknown): void {
  const { body, data }: { body?: unknown; data?: unknown } = Object(response);
  for (const stream of [body, data]) {
    const { dump, cancel, destroy, locked }: Droppable = Object(stream);
    // `destroy` of undici's bodies emits an error.
    if (dump !== undefined) Reflect.apply(dump, stream, []).catch(ignore);
    else if (cancel !== undefined && locked !== true) Reflect.apply(cancel, stream, []).catch(ignore);
    else if (destroy !== undefined) Reflect.apply(destroy, stream, []);
  }
}

interface Droppable {
  readonly dump?: () => Promise<unknown>;
  readonly cancel?: () => Promise<unknown>;
  readonly destroy?: () => unknown;
  readonly locked?: boolean;
}
