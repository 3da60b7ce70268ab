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
  });
}
