/**
 * Works on up to `width` items of `source` at a time and gives the results in the order of the items. Holds no
 * more than `width` items and results, however long the source is; a result is given as soon as those before it
 * are, also while the source makes us wait for its next item.
 */
export async function* inOrder<Item, Result>(
  source: AsyncIterable<Item>,
  width: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  const queue: Promise<Finished<Result>>[] = [];
  let reading: Promise<Read<Item>> | undefined;
  let ended = false;
  try {
    for (;;) {
      if (!ended && queue.length < width) reading ??= read(iterator);
      const head = queue[0];
      const waiting = [head, reading].filter((each) => each !== undefined);
      if (waiting.length === 0) return;
      const event = await Promise.race(waiting);
      if (event.kind === 'finished') {
        queue.shift();
        yield event.result;
        continue;
      }
      reading = undefined;
      if (event.next.done === true) ended = true;
      else queue.push(finish(work(event.next.value)));
    }
  } finally {
    // Failures behind the one that ended the loop have nobody to go to.
    for (const rest of [...queue, reading]) rest?.catch(() => undefined);
    if (!ended && reading === undefined) await iterator.return?.();
  }
}

interface Finished<Result> {
  readonly kind: 'finished';
  readonly result: Result;
}

interface Read<Item> {
  readonly kind: 'read';
  readonly next: IteratorResult<Item>;
}

async function read<Item>(iterator: AsyncIterator<Item>): Promise<Read<Item>> {
  return { kind: 'read', next: await iterator.next() };
}

function finish<Result>(work: Promise<Result>): Promise<Finished<Result>> {
  const finished = work.then((result) => ({ kind: 'finished', result }) as const);
  // It is looked at when its turn comes; until then a failure is not unhandled.
  finished.catch(() => undefined);
  return finished;
}
