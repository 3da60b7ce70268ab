import { invalid } from './option-table.ts';

/**
 * The part of `AbortSignal` that is used internally; a real one fits too. Every attempt needs two, and creating a
 * real one takes as long as a tenth of a request over loopback.
 */
export interface LightAbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Controller and signal in one object. Listeners are called once. */
export class LightAbortController implements LightAbortSignal {
  aborted = false;
  reason: unknown;
  readonly #listeners: (() => void)[] = [];

  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners.splice(0)) listener();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }
}

/** A real `AbortSignal` that follows `signal`, for code outside this package. */
export function abortSignalOf(signal: LightAbortSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  return controller.signal;
}

const followers = new WeakMap<object, AbortSignal>();

/**
 * `signal`, or a real `AbortSignal` that follows it, where it comes from a polyfill such as the package abort-controller.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for anything else.
 */
export function completeSignal(signal: AbortSignal): AbortSignal {
  if (typeof signal.throwIfAborted === 'function') return signal;
  let follower = followers.get(signal);
  if (follower === undefined) {
    if (typeof signal.addEventListener !== 'function') throw invalid('`signal`', 'an AbortSignal', signal);
    follower = abortSignalOf(signal);
    followers.set(signal, follower);
  }
  return follower;
}

const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `listener` when `signal` aborts, until the returned function is called. All callers share one listener on a
 * signal: Node warns above ten, and a crawl may have thousands of questions under one signal.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  let all = listeners.get(signal);
  if (all === undefined) {
    const waiting = new Set<() => void>();
    all = waiting;
    listeners.set(signal, waiting);
    signal.addEventListener('abort', () => waiting.forEach((each) => each()), { once: true });
  }
  const registered = all;
  registered.add(listener);
  return () => void registered.delete(listener);
}

/** Resolves or rejects as `pending`; rejects with the reason of `signal` if it aborts first. */
export function orAborted<Value>(pending: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const settled = onAbort(signal, () => reject(signal.reason));
    pending.then(
      (value) => {
        settled();
        resolve(value);
      },
      (error: unknown) => {
        settled();
        reject(error);
      },
    );
    if (signal.aborted) reject(signal.reason);
  });
}

/**
 * Yields the items of `source` until `signal` aborts, also while the source yields nothing. Then, and when the reader
 * leaves before the end, the source is closed. That is not awaited: during a read that is pending it may never end.
 */
export async function* untilAborted<Item>(
  source: AsyncIterable<Item>,
  signal: AbortSignal,
): AsyncGenerator<Item, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  let hasEnded = false;
  let wake = (): void => undefined;
  const settled = onAbort(signal, () => wake());
  try {
    while (!signal.aborted) {
      // `Promise.race` with a promise that lasts would keep every item until that promise settles.
      const next = await new Promise<IteratorResult<Item> | undefined>((resolve, reject) => {
        wake = () => resolve(undefined);
        // After an abort the promise is settled, so `reject` has no effect.
        iterator.next().then(resolve, reject);
      });
      if (next === undefined) return;
      if (next.done === true) return void (hasEnded = true);
      yield next.value;
    }
  } finally {
    settled();
    if (!hasEnded) void close(iterator);
  }
}

async function close(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // Reading has ended for another reason.
  }
}
