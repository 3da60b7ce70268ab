export interface ConcurrencyOptions {
  /** At most so many items are worked on, or wait with their result to be taken. */
  readonly width: number;
  /** Whether results come in the order of the source's items, or as soon as they are there. */
  readonly order: 'source' | 'completion';
}

interface Slot<Result> {
  outcome: { readonly result: Result } | { readonly error: unknown } | undefined;
}

/**
 * Works on several items of `source` at a time, and gives the results. However long the source is, no more than `width`
 * items and results are held: when nobody takes results, nothing more is read. A result is also given while the source
 * makes us wait for its next item. A failed item ends the run when its turn comes, a failing source at once.
 */
export async function* concurrently<Item, Result>(
  source: AsyncIterable<Item>,
  { width, order }: ConcurrencyOptions,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  // In the order in which results are given.
  const queue: Slot<Result>[] = [];
  let held = 0;
  let reading = false;
  let ended = false;
  let sourceFailure: { readonly error: unknown } | undefined;
  let wake = (): void => undefined;

  const doOne = async (item: Item): Promise<void> => {
    const slot: Slot<Result> = { outcome: undefined };
    held++;
    if (order === 'source') queue.push(slot);
    try {
      slot.outcome = { result: await work(item) };
    } catch (error) {
      slot.outcome = { error };
    }
    if (order === 'completion') queue.push(slot);
    wake();
  };
  const readOne = async (): Promise<void> => {
    reading = true;
    try {
      const next = await iterator.next();
      if (next.done === true) ended = true;
      else void doOne(next.value);
    } catch (error) {
      sourceFailure = { error };
    }
    reading = false;
    wake();
  };

  try {
    for (;;) {
      if (sourceFailure !== undefined) throw sourceFailure.error;
      if (!ended && !reading && held < width) void readOne();
      const outcome = queue[0]?.outcome;
      if (outcome !== undefined) {
        queue.shift();
        held--;
        if ('error' in outcome) throw outcome.error;
        yield outcome.result;
        continue;
      }
      if (ended && held === 0) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    if (!ended && !reading) await iterator.return?.();
  }
}
