import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inOrder } from '../../../src/report/input/in-order.ts';

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

describe('inOrder', () => {
  it('gives results in the order of the items, whichever is ready first', async () => {
    const results = inOrder(numbers(20), 8, async (number) => {
      await delay((7 * number) % 10);
      return number;
    });
    expect(await collect(results)).toEqual(Array.from({ length: 20 }, (_, number) => number));
  });

  it('works on as many at a time as it may, and no more', async () => {
    let running = 0;
    let most = 0;
    await collect(
      inOrder(numbers(30), 5, async () => {
        most = Math.max(most, ++running);
        await delay(2);
        running--;
      }),
    );
    expect(most).toBe(5);
  });

  it('reads no further ahead than its width while the first is stuck', async () => {
    let read = -1;
    const results = inOrder(
      numbers(100, (number) => (read = number)),
      4,
      () => new Promise<never>(() => undefined),
    );
    void results.next();
    await delay(20);
    expect(read).toBe(3);
  });

  it('passes a failure on at its turn, after the results before it', async () => {
    const got: number[] = [];
    const failing = async (): Promise<void> => {
      for await (const result of inOrder(numbers(5), 5, async (number) => {
        if (number === 2) throw new Error('two');
        return number;
      })) {
        got.push(result);
      }
    };
    await expect(failing()).rejects.toThrow('two');
    expect(got).toEqual([0, 1]);
  });

  it('gives nothing for nothing', async () => {
    expect(await collect(inOrder(numbers(0), 3, async (number) => number))).toEqual([]);
  });
});
