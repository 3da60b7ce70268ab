/**
 * Works on up to `width` items of `source` at a time and gives each result as soon as it is there, in whatever order.
 * Holds no more than `width` items and results: when nobody takes them, nothing more is read.
 */
export async function* asCompleted<Item, Result>(
  source: AsyncIterable<Item>,
  width: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  const finished: Result[] = [];
  let failure: { readonly error: unknown } | undefined;
  let running = 0;
  let reading = false;
  let ended = false;
  let wake = (): void => undefined;

  const follow = (promise: Promise<void>): void => {
    promise
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => wake());
  };
  const doOne = async (item: Item): Promise<void> => {
    running++;
    try {
      finished.push(await work(item));
    } finally {
      running--;
    }
  };
  const readOne = async (): Promise<void> => {
    try {
      const next = await iterator.next();
      if (next.done === true) ended = true;
      else follow(doOne(next.value));
    } finally {
      reading = false;
    }
  };

  try {
    for (;;) {
      if (failure !== undefined) throw failure.error;
      if (!ended && !reading && running + finished.length < width) {
        reading = true;
        follow(readOne());
      }
      if (finished.length > 0) {
        yield finished.shift()!;
        continue;
      }
      if (ended && running === 0) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    if (!ended && !reading) await iterator.return?.();
  }
}
