import { describe, expect, it } from 'vitest';
import { mapBatches, mapConcurrent } from '../../../src/core/base/index.ts';
import { Moment } from '../../support/moment.ts';
import fc from '../../support/fast-check.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

async function* later(items: readonly number[], onEnd = (): void => undefined): AsyncGenerator<number> {
  try {
    for (const item of items) yield await Promise.resolve(item);
  } finally {
    onEnd();
  }
}

async function collect<Item>(items: AsyncIterable<Item>, into: Item[] = []): Promise<Item[]> {
  for await (const item of items) into.push(item);
  return into;
}

/** Long enough for everything that needs no more than microtasks, and the end of a slice of time. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe.each([true, false])('mapConcurrent, ordered %s', (ordered) => {
  it('yields every result once, in order if asked, with bounded work, for any order of completion', async () => {
    const turns = fc.array(fc.nat({ max: 5 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(turns, fc.integer({ min: 1, max: 6 }), async (delays, concurrency) => {
        let [running, most] = [0, 0];
        const results = await collect(
          mapConcurrent(later(numbers(delays.length)), { concurrency, ordered }, async (number) => {
            most = Math.max(most, ++running);
            for (let turn = 0; turn < (delays[number] ?? 0); turn++) await Promise.resolve();
            running--;
            return number;
          }),
        );
        expect(most).toBeLessThanOrEqual(concurrency);
        expect(ordered ? results : results.sort((a, b) => a - b)).toEqual(numbers(delays.length));
      }),
    );
  });

  it('works on as many at a time as allowed', async () => {
    const gates = numbers(9).map(() => new Moment());
    const started: number[] = [];
    const all = collect(
      mapConcurrent(numbers(9), { concurrency: 5, ordered }, async (number) => {
        started.push(number);
        await gates[number]?.come;
      }),
    );
    await settled();
    expect(started).toEqual([0, 1, 2, 3, 4]);
    for (const gate of gates) gate.now();
    await expect(all).resolves.toHaveLength(9);
  });

  it('reads ahead no more than its bound, for a consumer that takes nothing', async () => {
    let read = 0;
    const results = mapConcurrent(numbers(100), { concurrency: 4, ordered }, (number) => {
      read++;
      return Promise.resolve(number);
    });
    await results.next();
    await settled();
    expect(read).toBeLessThanOrEqual(5);
    await results.return();
  });

  it('throws a failure after the results before it, aborts the rest, and releases the source', async () => {
    let closed = false;
    let aborted: unknown;
    const failure = new Error('two');
    const got: number[] = [];
    const source = later(numbers(100), () => (closed = true));
    const failing = collect(
      mapConcurrent(source, { concurrency: 5, ordered }, (number, signal) => {
        if (number < 2) return Promise.resolve(number);
        if (number === 2) return settled().then(() => Promise.reject(failure));
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject((aborted = signal.reason)));
        });
      }),
      got,
    );
    await expect(failing).rejects.toBe(failure);
    expect(got).toEqual([0, 1]);
    expect(closed).toBe(true);
    expect(aborted).toBe(failure);
  });

  it('throws what the source, or work before its promise, throws', async () => {
    async function* broken(): AsyncGenerator<number> {
      yield 1;
      throw new Error('source');
    }
    const work = (number: number): Promise<number> => Promise.resolve(number);
    await expect(collect(mapConcurrent(broken(), { concurrency: 3, ordered }, work))).rejects.toThrow(
      'source',
    );
    const thrower = (): never => {
      throw new Error('work');
    };
    await expect(collect(mapConcurrent([1], { concurrency: 3, ordered }, thrower))).rejects.toThrow('work');
  });

  it.each([
    ['without work', () => undefined],
    ['whose work is done', () => Promise.resolve()],
  ])('gives other work a turn while it reads a list of items %s', async (_what, work) => {
    const stop = new AbortController();
    const reason = new Error('left');
    let read = 0;
    function* list(): Generator<number> {
      while (read < 500_000) yield read++;
    }
    setImmediate(() => stop.abort(reason));
    const all = collect(mapConcurrent(list(), { concurrency: 2, ordered, signal: stop.signal }, work));
    await expect(all).rejects.toBe(reason);
    expect(read).toBeLessThan(500_000);
  });
});

describe('mapBatches', () => {
  async function* batchesOf(...batches: readonly (readonly number[])[]): AsyncGenerator<readonly number[]> {
    yield* batches;
  }

  it('yields and starts no more at a time than its bound, for a batch of any length', async () => {
    let started = 0;
    const gate = new Moment();
    const results = mapBatches(
      batchesOf(numbers(100)),
      { concurrency: 8, ordered: true },
      (number): number | Promise<number> => {
        started++;
        return number === 10 ? gate.come.then(() => number) : number;
      },
    );
    expect((await results.next()).value).toEqual(numbers(8));
    expect((await results.next()).value).toEqual([8, 9]);
    const stuck = results.next();
    await settled();
    expect(started).toBe(18);
    gate.now();
    expect((await stuck).value).toEqual([10, 11, 12, 13, 14, 15, 16, 17]);
    await results.return();
  });
});
