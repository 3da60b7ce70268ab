import { onAbort } from './on-abort.ts';

export interface MapOptions {
  /** Items worked on at the same time, and results waiting to be taken, together at most. */
  readonly concurrency: number;
  /** Whether results come in the order of the items; otherwise each comes as soon as it is there. Default `false`. */
  readonly ordered?: boolean;
  /** Ends the loop at once, with its own reason. */
  readonly signal?: AbortSignal | undefined;
}

type Outcome<Result> = { readonly result: Result } | { readonly error: unknown };

/** The place of an item in the queue of results; without an outcome while it is worked on. */
interface Turn<Result> {
  outcome?: Outcome<Result>;
}

/**
 * Works on several items at a time, and gives the results. Reads no further ahead than it has room for results: a slow
 * reader, or one item that is stuck, stops the reading.
 *
 * A failure of `work` or of `items` is thrown at its turn, after the results that are before it. The loop then ends: the
 * signal given to `work` is aborted, and `items` are let go of.
 *
 * @param work Gives `undefined` for an item to be passed over.
 */
export async function* mapConcurrent<Item, Result>(
  items: Iterable<Item> | AsyncIterable<Item>,
  { concurrency, ordered = false, signal }: MapOptions,
  work: (item: Item, signal: AbortSignal) => Promise<Result> | undefined,
): AsyncGenerator<Result, void, undefined> {
  signal?.throwIfAborted();
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const stop = new AbortController();
  const queue: Turn<Result>[] = [];
  let running = 0;
  let isReading = false;
  let hasEnded = false;
  let wake = (): void => undefined;

  const start = (item: Item): void => {
    const pending = work(item, stop.signal);
    if (pending === undefined) return;
    const turn: Turn<Result> = {};
    if (ordered) queue.push(turn);
    running++;
    const settle = (outcome: Outcome<Result>): void => {
      running--;
      turn.outcome = outcome;
      if (!ordered) queue.push(turn);
      wake();
    };
    pending.then(
      (result) => settle({ result }),
      (error: unknown) => settle({ error }),
    );
  };
  const read = async (): Promise<void> => {
    isReading = true;
    try {
      const next = await iterator.next();
      hasEnded = next.done === true;
      if (next.done !== true) start(next.value);
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
      const held = ordered ? queue.length : queue.length + running;
      if (!hasEnded && !isReading && held < concurrency) void read();
      const outcome = queue[0]?.outcome;
      if (outcome !== undefined) {
        queue.shift();
        if ('error' in outcome) throw outcome.error;
        yield outcome.result;
      } else if (hasEnded && running === 0) return;
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
    if (running > 0) stop.abort(reason);
    if (!hasEnded) {
      const released = Promise.resolve(iterator.return?.()).catch(() => undefined);
      // A source that is being read may never answer.
      if (!isReading) await released;
    }
  }
}
