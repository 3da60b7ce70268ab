/**
 * The items of `source` until `signal` aborts. The source is then left as it is, in the middle of whatever it does:
 * to end it would be to end the request whose answer is still to be written.
 */
export async function* untilAborted<Item>(
  source: AsyncIterable<Item>,
  signal: AbortSignal,
): AsyncGenerator<Item, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  let stop: (() => void) | undefined;
  const aborted = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    while (!signal.aborted) {
      const reading = iterator.next();
      // When nobody waits for it any more, a failure has nobody to go to.
      reading.catch(() => undefined);
      const next = await Promise.race([reading, aborted]);
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}
