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

type Outcome<Result> = { readonly result: Result } | { readonly error: unknown };

/** The place of an item in the queue of results. It has no outcome while the item is in work. */
interface Place<Result> {
  outcome?: Outcome<Result>;
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
  const mapping = new Mapping(batches, options, work);
  const unlisten = signal === undefined ? undefined : onAbort(signal, () => mapping.wake());
  let reason: unknown;
  try {
    for (;;) {
      signal?.throwIfAborted();
      mapping.start();
      const results = mapping.take();
      if (results !== undefined) yield results;
      else if (mapping.isOver) return;
      else await mapping.change();
    }
  } catch (error) {
    reason = error;
    throw error;
  } finally {
    unlisten?.();
    await mapping.end(reason);
  }
}

/** The items in work, and the results that are not taken yet. */
class Mapping<Item, Result> {
  readonly #iterator: AsyncIterator<readonly Item[]>;
  readonly #concurrency: number;
  readonly #ordered: boolean;
  readonly #work: (item: Item, signal: AbortSignal) => Promise<Result> | Result | undefined;
  readonly #controller = new AbortController();
  /** Results in order. Those that are ready before any other item waits need no place. */
  #ready: Result[] = [];
  readonly #queue: Place<Result>[] = [];
  #batch: readonly Item[] = [];
  #next = 0;
  #running = 0;
  #isReading = false;
  #hasEnded = false;
  #changed = (): void => undefined;

  constructor(
    batches: AsyncIterable<readonly Item[]>,
    { concurrency, ordered = false }: MapOptions,
    work: (item: Item, signal: AbortSignal) => Promise<Result> | Result | undefined,
  ) {
    this.#iterator = batches[Symbol.asyncIterator]();
    this.#concurrency = concurrency;
    this.#ordered = ordered;
    this.#work = work;
  }

  /** Starts work on as many items as fit the buffer, and reads more when none is left. */
  start(): void {
    while (this.#next < this.#batch.length && this.#hasRoom) this.#startOn(this.#batch[this.#next++]!);
    if (this.#allStarted && !this.#hasEnded && !this.#isReading && this.#hasRoom) void this.#read();
  }

  /**
   * The results that are next; `undefined` when none is ready.
   *
   * @throws the failure that is next.
   */
  take(): Result[] | undefined {
    const [queue, ready] = [this.#queue, this.#ready];
    let count = 0;
    for (const { outcome } of queue) {
      if (outcome === undefined || 'error' in outcome) break;
      ready.push(outcome.result);
      count++;
    }
    if (count > 0) queue.splice(0, count);
    if (ready.length > 0) {
      this.#ready = [];
      return ready;
    }
    const failed = queue[0]?.outcome;
    if (failed !== undefined && 'error' in failed) throw failed.error;
    return undefined;
  }

  get isOver(): boolean {
    return this.#hasEnded && this.#allStarted && this.#running === 0;
  }

  /** Resolves when a result is ready, more items are read, or {@link wake} is called. */
  change(): Promise<void> {
    return new Promise((resolve) => {
      this.#changed = resolve;
    });
  }

  wake(): void {
    this.#changed();
  }

  /** Aborts what is in work, and closes the iterator. */
  async end(reason: unknown): Promise<void> {
    if (this.#running > 0) this.#controller.abort(reason);
    if (this.#hasEnded) return;
    const released = Promise.resolve(this.#iterator.return?.()).catch(() => undefined);
    // Closing an iterator during a pending read may never resolve.
    if (!this.#isReading) await released;
  }

  get #allStarted(): boolean {
    return this.#next >= this.#batch.length;
  }

  get #hasRoom(): boolean {
    const inWork = this.#ordered ? 0 : this.#running;
    return this.#ready.length + this.#queue.length + inWork < this.#concurrency;
  }

  #startOn(item: Item): void {
    let started: Promise<Result> | Result | undefined;
    try {
      started = this.#work(item, this.#controller.signal);
    } catch (error) {
      this.#queue.push({ outcome: { error } });
      return;
    }
    if (started instanceof Promise) this.#wait(started);
    else if (started === undefined) return;
    else if (this.#queue.length === 0) this.#ready.push(started);
    else this.#queue.push({ outcome: { result: started } });
  }

  #wait(pending: Promise<Result>): void {
    const place: Place<Result> = {};
    if (this.#ordered) this.#queue.push(place);
    this.#running++;
    const settle = (outcome: Outcome<Result>): void => {
      this.#running--;
      place.outcome = outcome;
      if (!this.#ordered) this.#queue.push(place);
      this.wake();
    };
    pending.then(
      (result) => settle({ result }),
      (error: unknown) => settle({ error }),
    );
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      const { done, value } = await this.#iterator.next();
      if (done === true) this.#hasEnded = true;
      else [this.#batch, this.#next] = [value, 0];
    } catch (error) {
      this.#queue.push({ outcome: { error } });
    } finally {
      this.#isReading = false;
      this.wake();
    }
  }
}
