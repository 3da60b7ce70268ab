import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { asCompleted } from '../../../src/report/input/as-completed.ts';

async function* numbers(
  count: number,
  onRead: (number: number) => void = () => undefined,
): AsyncGenerator<number> {
  for (let number = 0; number < count; number++) {
    onRead(number);
    yield number;
  }
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('asCompleted', () => {
  it('gives every result, those that are ready first before others', async () => {
    const results = await collect(
      asCompleted(numbers(4), 4, async (number) => {
        await delay(number === 0 ? 60 : 1);
        return number;
      }),
    );
    expect(results.at(-1)).toBe(0);
    expect([...results].sort()).toEqual([0, 1, 2, 3]);
  });

  it('works on as many at a time as it may, and no more', async () => {
    let running = 0;
    let most = 0;
    await collect(
      asCompleted(numbers(30), 5, async () => {
        most = Math.max(most, ++running);
        await delay(2);
        running--;
      }),
    );
    expect(most).toBe(5);
  });

  it('reads no further ahead than its width of a slow reader', async () => {
    let [read, taken, ahead] = [0, 0, 0];
    const results = asCompleted(
      numbers(40, () => (ahead = Math.max(ahead, ++read - taken))),
      4,
      () => delay(5),
    );
    for await (const _ of results) {
      await delay(2);
      taken++;
    }
    // The one in the hands of the reader is not counted as taken.
    expect(taken).toBe(40);
    expect([4, 5]).toContain(ahead);
  });

  it('passes the first failure on, and lets go of the source', async () => {
    let closed = false;
    async function* source(): AsyncGenerator<number> {
      try {
        yield* numbers(100);
      } finally {
        closed = true;
      }
    }
    const failing = collect(
      asCompleted(source(), 3, async (number) => {
        if (number === 2) throw new Error('two');
        return number;
      }),
    );
    await expect(failing).rejects.toThrow('two');
    expect(closed).toBe(true);
  });

  it('passes a failure of the source on', async () => {
    async function* source(): AsyncGenerator<number> {
      yield 1;
      throw new Error('source');
    }
    await expect(collect(asCompleted(source(), 3, (number) => Promise.resolve(number)))).rejects.toThrow(
      'source',
    );
  });

  it('gives nothing for nothing', async () => {
    expect(await collect(asCompleted(numbers(0), 3, async (number) => number))).toEqual([]);
  });
});
