import { onAbort } from './abort.ts';
import { TimeSlice } from './clock.ts';

export interface MapOptions {
  /** The most items in work and results not yet taken, together. */
  readonly concurrency: number;
  /** Whether results come in the order of the items, instead of as soon as they are ready. Default `false`. */
  readonly ordered?: boolean;
  /** Ends the loop at once, with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** A result, or a failure, that is not taken yet. It has no outcome while its item is in work. */
interface Place<Result> {
  outcome?: { readonly result: Result } | { readonly error: unknown };
}

/**
 * Works on several items at a time and yields the results. It reads an item only when its result fits the buffer,
 * so a slow reader, or one stuck item, stops the reading.
 *
 * A failure of `work` or of `items` is thrown after the results before it. The loop then ends: the signal given to
 * `work` aborts, and the iterator of `items` is closed.
 *
 * @param work Returns `undefined` to skip an item.
 */
export async function* mapConcurrent<Item, Result>(
  items: Iterable<Item> | AsyncIterable<Item>,
  options: MapOptions,
  work: (item: Item, signal: AbortSignal) => Promise<Result> | undefined,
): AsyncGenerator<Result, void, undefined> {
  for await (const results of mapBatches(oneByOne(items), options, work)) {
    for (const result of results) {
      options.signal?.throwIfAborted();
      yield result;
    }
  }
}

/** Each item as a batch of its own. A list whose items need no I/O is read in slices of time. */
function oneByOne<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncIterable<readonly Item[]> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const slice = new TimeSlice();
  // Not a generator: its `return()` would wait until the reading in progress has ended.
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const next = await iterator.next();
        if (slice.isOver) await slice.yield();
        return next.done === true ? { done: true, value: undefined } : { done: false, value: [next.value] };
      },
      async return() {
        await iterator.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
}

/**
 * {@link mapConcurrent} for items that are read many at a time, and for work that is mostly done at once: a result that
 * `work` returns without a promise needs none, and results that are ready together are yielded together.
 */
export async function* mapBatches<Item, Result>(
  batches: AsyncIterable<readonly Item[]>,
  options: MapOptions,
  work: (item: Item, signal: AbortSignal) => Promise<Result> | Result | undefined,
): AsyncGenerator<Result[], void, undefined> {
  const { concurrency, ordered = false, signal } = options;
  signal?.throwIfAborted();
  const iterator = batches[Symbol.asyncIterator]();
  const controller = new AbortController();
  const places: Place<Result>[] = [];
  let batch: readonly Item[] = [];
  let next = 0;
  let running = 0;
  let isReading = false;
  let hasEnded = false;
  let wake = (): void => undefined;
  const hasRoom = (): boolean => places.length + (ordered ? 0 : running) < concurrency;

  const startOn = (item: Item): void => {
    let started: Promise<Result> | Result | undefined;
    try {
      started = work(item, controller.signal);
    } catch (error) {
      places.push({ outcome: { error } });
      return;
    }
    if (started === undefined) return;
    if (!(started instanceof Promise)) return void places.push({ outcome: { result: started } });
    const place: Place<Result> = {};
    if (ordered) places.push(place);
    running++;
    const settle = (outcome: Place<Result>['outcome'] & object): void => {
      running--;
      place.outcome = outcome;
      if (!ordered) places.push(place);
      wake();
    };
    started.then(
      (result) => settle({ result }),
      (error: unknown) => settle({ error }),
    );
  };

  const read = async (): Promise<void> => {
    isReading = true;
    try {
      const { done, value } = await iterator.next();
      if (done === true) hasEnded = true;
      else [batch, next] = [value, 0];
    } catch (error) {
      places.push({ outcome: { error } });
    }
    isReading = false;
    wake();
  };

  /** The results that are next; throws the failure that is next. */
  const take = (): Result[] => {
    const results: Result[] = [];
    for (const { outcome } of places) {
      if (outcome === undefined || 'error' in outcome) break;
      results.push(outcome.result);
    }
    places.splice(0, results.length);
    const failed = results.length === 0 ? places[0]?.outcome : undefined;
    if (failed !== undefined && 'error' in failed) throw failed.error;
    return results;
  };

  const unlisten = signal && onAbort(signal, () => wake());
  let reason: unknown;
  try {
    for (;;) {
      signal?.throwIfAborted();
      while (next < batch.length && hasRoom()) startOn(batch[next++]!);
      const allStarted = next >= batch.length;
      if (allStarted && !hasEnded && !isReading && hasRoom()) void read();
      const results = take();
      if (results.length > 0) yield results;
      else if (hasEnded && allStarted && running === 0) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } catch (error) {
    reason = error;
    throw error;
  } finally {
    unlisten?.();
    if (running > 0) controller.abort(reason);
    if (!hasEnded) {
      const released = Promise.resolve(iterator.return?.()).catch(() => undefined);
      // Closing an iterator during a pending read may never resolve.
      if (!isReading) await released;
    }
  }
}
