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
  const { signal } = options;
  signal?.throwIfAborted();
  const pipeline = new Pipeline(batches[Symbol.asyncIterator](), options, work);
  const unlisten = signal && onAbort(signal, () => pipeline.wake());
  let reason: unknown;
  try {
    for (;;) {
      signal?.throwIfAborted();
      pipeline.startAll();
      const results = pipeline.take();
      if (results.length > 0) yield results;
      else if (pipeline.isDone) return;
      else await pipeline.change();
    }
  } catch (error) {
    reason = error;
    throw error;
  } finally {
    unlisten?.();
    await pipeline.close(reason);
  }
}

/** Items that are read, in work, and done. */
class Pipeline<Item, Result> {
  readonly #iterator: AsyncIterator<readonly Item[]>;
  readonly #concurrency: number;
  readonly #ordered: boolean;
  readonly #work: (item: Item, signal: AbortSignal) => Promise<Result> | Result | undefined;
  readonly #controller = new AbortController();
  readonly #places: Place<Result>[] = [];
  #batch: readonly Item[] = [];
  #next = 0;
  #running = 0;
  #isReading = false;
  #hasEnded = false;
  /** Ends {@link change}. */
  wake: () => void = () => undefined;

  constructor(
    iterator: AsyncIterator<readonly Item[]>,
    { concurrency, ordered = false }: MapOptions,
    work: (item: Item, signal: AbortSignal) => Promise<Result> | Result | undefined,
  ) {
    this.#iterator = iterator;
    this.#concurrency = concurrency;
    this.#ordered = ordered;
    this.#work = work;
  }

  get #hasRoom(): boolean {
    return this.#places.length + (this.#ordered ? 0 : this.#running) < this.#concurrency;
  }

  get #hasStarted(): boolean {
    return this.#next >= this.#batch.length;
  }

  get isDone(): boolean {
    return this.#hasEnded && this.#hasStarted && this.#running === 0;
  }

  /** Resolves when an item is done or read, or {@link wake} is called. */
  change(): Promise<void> {
    return new Promise((resolve) => (this.wake = resolve));
  }

  /** Starts what has room, and reads on. */
  startAll(): void {
    while (!this.#hasStarted && this.#hasRoom) this.#startOn(this.#batch[this.#next++]!);
    if (this.#hasStarted && !this.#hasEnded && !this.#isReading && this.#hasRoom) void this.#read();
  }

  #startOn(item: Item): void {
    let started: Promise<Result> | Result | undefined;
    try {
      started = this.#work(item, this.#controller.signal);
    } catch (error) {
      this.#places.push({ outcome: { error } });
      return;
    }
    if (started === undefined) return;
    if (!(started instanceof Promise)) return void this.#places.push({ outcome: { result: started } });
    const place: Place<Result> = {};
    if (this.#ordered) this.#places.push(place);
    this.#running++;
    started.then(
      (result) => this.#settle(place, { result }),
      (error: unknown) => this.#settle(place, { error }),
    );
  }

  #settle(place: Place<Result>, outcome: Place<Result>['outcome'] & object): void {
    this.#running--;
    place.outcome = outcome;
    if (!this.#ordered) this.#places.push(place);
    this.wake();
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      const { done, value } = await this.#iterator.next();
      if (done === true) this.#hasEnded = true;
      else [this.#batch, this.#next] = [value, 0];
    } catch (error) {
      this.#places.push({ outcome: { error } });
    }
    this.#isReading = false;
    this.wake();
  }

  /** The results that are next. @throws the failure that is next. */
  take(): Result[] {
    const results: Result[] = [];
    for (const { outcome } of this.#places) {
      if (outcome === undefined || 'error' in outcome) break;
      results.push(outcome.result);
    }
    this.#places.splice(0, results.length);
    const failed = results.length === 0 ? this.#places[0]?.outcome : undefined;
    if (failed !== undefined && 'error' in failed) throw failed.error;
    return results;
  }

  /** Aborts the work that is under way, and closes the iterator. */
  async close(reason: unknown): Promise<void> {
    if (this.#running > 0) this.#controller.abort(reason);
    if (this.#hasEnded) return;
    const released = Promise.resolve(this.#iterator.return?.()).catch(() => undefined);
    // Closing an iterator during a pending read may never resolve.
    if (!this.#isReading) await released;
  }
}
