/**
 * Yields the items of `source` until `signal` aborts. It does not close the source then, because that would destroy
 * the request whose response is still to be written.
 */
export async function* untilAborted<Item>(
  source: AsyncIterable<Item>,
  signal: AbortSignal,
): AsyncGenerator<Item, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  let stop = (): void => undefined;
  const onAbort = (): void => stop();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    while (!signal.aborted) {
      // `Promise.race` with a promise that lasts would keep every item until that promise settles.
      const next = await new Promise<IteratorResult<Item> | undefined>((resolve, reject) => {
        stop = () => resolve(undefined);
        // After an abort nobody waits for this, and `reject` has no effect.
        iterator.next().then(resolve, reject);
      });
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
