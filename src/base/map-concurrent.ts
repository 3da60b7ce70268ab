import { onAbort } from './abort.ts';

export interface MapOptions {
  /** The most items in work and results not yet taken, together. */
  readonly concurrency: number;
  /** Whether results come in the order of the items, instead of as soon as they are ready. Default `false`. */
  readonly ordered?: boolean;
  /** Ends the loop at once, with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

type Outcome<Result> = { readonly result: Result } | { readonly error: unknown };

/** The place of an item in the queue of results. It has no outcome while the item is in work. */
interface Place<Result> {
  outcome?: Outcome<Result>;
}

/**
 * Works on several items at a time and yields the results. It reads an item only when there is room for its result,
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

/** Each item as a batch of its own. */
function oneByOne<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncIterable<readonly Item[]> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  // Not a generator: its `return()` would wait until the reading in progress has ended.
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const next = await iterator.next();
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
  { concurrency, ordered = false, signal }: MapOptions,
  work: (item: Item, signal: AbortSignal) => Promise<Result> | Result | undefined,
): AsyncGenerator<Result[], void, undefined> {
  signal?.throwIfAborted();
  const iterator = batches[Symbol.asyncIterator]();
  const controller = new AbortController();
  /** Results in order. Those that are ready before any other item waits need no place. */
  let ready: Result[] = [];
  const queue: Place<Result>[] = [];
  let batch: readonly Item[] = [];
  let next = 0;
  let running = 0;
  let isReading = false;
  let hasEnded = false;
  let wake = (): void => undefined;

  const startOn = (item: Item): void => {
    let started: Promise<Result> | Result | undefined;
    try {
      started = work(item, controller.signal);
    } catch (error) {
      queue.push({ outcome: { error } });
      return;
    }
    if (started instanceof Promise) wait(started);
    else if (started === undefined) return;
    else if (queue.length === 0) ready.push(started);
    else queue.push({ outcome: { result: started } });
  };
  const wait = (pending: Promise<Result>): void => {
    const place: Place<Result> = {};
    if (ordered) queue.push(place);
    running++;
    const settle = (outcome: Outcome<Result>): void => {
      running--;
      place.outcome = outcome;
      if (!ordered) queue.push(place);
      wake();
    };
    pending.then(
      (result) => settle({ result }),
      (error: unknown) => settle({ error }),
    );
  };
  const hasRoom = (): boolean => ready.length + queue.length + (ordered ? 0 : running) < concurrency;
  const read = async (): Promise<void> => {
    isReading = true;
    try {
      const { done, value } = await iterator.next();
      if (done === true) hasEnded = true;
      else [batch, next] = [value, 0];
    } catch (error) {
      queue.push({ outcome: { error } });
    } finally {
      isReading = false;
      wake();
    }
  };

  const unlisten = signal === undefined ? undefined : onAbort(signal, () => wake());
  let reason: unknown;
  try {
    for (;;) {
      signal?.throwIfAborted();
      while (next < batch.length && hasRoom()) startOn(batch[next++]!);
      const allStarted = next >= batch.length;
      if (allStarted && !hasEnded && !isReading && hasRoom()) void read();
      takeReady(queue, ready);
      const failed = queue[0]?.outcome;
      if (ready.length > 0) {
        const taken = ready;
        ready = [];
        yield taken;
      } else if (failed !== undefined && 'error' in failed) throw failed.error;
      else if (hasEnded && allStarted && running === 0) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
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

/** Moves the results at the head of the queue to `ready`; a failure stays there. */
function takeReady<Result>(queue: Place<Result>[], ready: Result[]): void {
  let count = 0;
  for (const { outcome } of queue) {
    if (outcome === undefined || 'error' in outcome) break;
    ready.push(outcome.result);
    count++;
  }
  if (count > 0) queue.splice(0, count);
}
