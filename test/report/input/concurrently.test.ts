import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { concurrently } from '../../../src/report/input/concurrently.ts';

const ORDERS = ['source', 'completion'] as const;

/** So many numbers from 0, which count how many of them were read, and whether the source was let go. */
class Numbers implements AsyncIterable<number> {
  read = 0;
  closed = false;
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<number> {
    try {
      while (this.read < this.#count) yield this.read++;
    } finally {
      this.closed = true;
    }
  }
}

/** Work that is done when the test says so. */
class Work {
  readonly #waiting = new Map<number, { done: () => void; fail: (error: Error) => void }>();
  most = 0;

  readonly start = (number: number): Promise<number> =>
    new Promise((resolve, reject) => {
      this.#waiting.set(number, { done: () => resolve(number), fail: reject });
      this.most = Math.max(this.most, this.#waiting.size);
    });

  async finish(number: number, error?: Error): Promise<void> {
    const { done, fail } = this.#waiting.get(number)!;
    this.#waiting.delete(number);
    if (error === undefined) done();
    else fail(error);
    await turn();
  }
}

/** Takes results as they come; `results` grows, and `end` settles at the end. */
function collect(results: AsyncIterable<number>): {
  readonly results: number[];
  readonly end: Promise<void>;
} {
  const all: number[] = [];
  const end = (async () => {
    for await (const result of results) all.push(result);
  })();
  end.catch(() => undefined);
  return { results: all, end };
}

describe('in the order of the source', () => {
  it('a result waits for those before it', async () => {
    const work = new Work();
    const { results, end } = collect(concurrently(new Numbers(3), { width: 3, order: 'source' }, work.start));
    await turn();
    await work.finish(2);
    await work.finish(1);
    expect(results).toEqual([]);
    await work.finish(0);
    await end;
    expect(results).toEqual([0, 1, 2]);
  });

  it('a failure is passed on at its turn, after the results before it', async () => {
    const work = new Work();
    const { results, end } = collect(concurrently(new Numbers(5), { width: 5, order: 'source' }, work.start));
    await turn();
    await work.finish(2, new Error('two'));
    await work.finish(1);
    await work.finish(0);
    await expect(end).rejects.toThrow('two');
    expect(results).toEqual([0, 1]);
  });

  it('the source is read no further than the width while the first item is stuck', async () => {
    const source = new Numbers(100);
    const work = new Work();
    collect(concurrently(source, { width: 4, order: 'source' }, work.start));
    await turn();
    for (const number of [1, 2, 3]) await work.finish(number);
    expect(source.read).toBe(4);
  });
});

describe('in the order of completion', () => {
  it('a result waits for nothing', async () => {
    const work = new Work();
    const { results, end } = collect(
      concurrently(new Numbers(3), { width: 3, order: 'completion' }, work.start),
    );
    await turn();
    for (const number of [2, 0, 1]) await work.finish(number);
    await end;
    expect(results).toEqual([2, 0, 1]);
  });
});

describe.each(ORDERS)('in the order of %s', (order) => {
  it('as many items are worked on as the width says, and no more', async () => {
    const work = new Work();
    const { results, end } = collect(concurrently(new Numbers(30), { width: 5, order }, work.start));
    for (let number = 0; number < 30; number++) {
      await turn();
      await work.finish(number);
    }
    await end;
    expect([work.most, results.length]).toEqual([5, 30]);
  });

  it('nothing is read for a reader who takes nothing', async () => {
    const source = new Numbers(40);
    const work = new Work();
    const results = concurrently(source, { width: 4, order }, work.start);
    const first = results.next();
    await turn();
    for (const number of [0, 1, 2, 3]) await work.finish(number);
    expect(await first).toEqual({ done: false, value: 0 });
    await turn();
    expect(source.read).toBe(4);
    await results.next();
    await turn();
    expect(source.read).toBe(5);
  });

  it('a result is given while the source makes us wait', async () => {
    async function* source(): AsyncGenerator<number> {
      yield 1;
      await new Promise(() => undefined);
    }
    const results = concurrently(source(), { width: 3, order }, (number) => Promise.resolve(number));
    expect(await results.next()).toEqual({ done: false, value: 1 });
  });

  it('a failure ends the run and lets go of the source', async () => {
    const source = new Numbers(100);
    const { end } = collect(
      concurrently(source, { width: 1, order }, async (number) => {
        if (number === 2) throw new Error('two');
        return number;
      }),
    );
    await expect(end).rejects.toThrow('two');
    await turn();
    expect(source.closed).toBe(true);
  });

  it('a failure of the source is passed on', async () => {
    async function* source(): AsyncGenerator<number> {
      yield 1;
      throw new Error('source');
    }
    const { end } = collect(concurrently(source(), { width: 3, order }, (number) => Promise.resolve(number)));
    await expect(end).rejects.toThrow('source');
  });

  it('a reader who leaves lets go of the source', async () => {
    const source = new Numbers(100);
    for await (const _ of concurrently(source, { width: 1, order }, (number) => Promise.resolve(number)))
      break;
    expect([source.closed, source.read]).toEqual([true, 1]);
  });

  it('nothing gives nothing', async () => {
    const { results, end } = collect(
      concurrently(new Numbers(0), { width: 3, order }, (number) => Promise.resolve(number)),
    );
    await end;
    expect(results).toEqual([]);
  });
});
