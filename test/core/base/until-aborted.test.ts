import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { untilAborted } from '../../../src/core/base/index.ts';
import { usedBytes } from '../../support/garbage.ts';

const KIB = 1_024;

test('A stream that lasts keeps nothing of the items before', async () => {
  async function* items(): AsyncGenerator<Uint8Array> {
    for (;;) {
      await setImmediate();
      yield new Uint8Array(100 * KIB);
    }
  }
  let read = 0;
  const used: number[] = [];
  for await (const item of untilAborted(items(), new AbortController().signal)) {
    expect(item).toHaveLength(100 * KIB);
    read++;
    if (read === 10 || read === 310) used.push(await usedBytes());
    if (read === 310) break;
  }
  const [early = 0, late = Infinity] = used;
  expect(late - early).toBeLessThan(5 * KIB * KIB);
});

test('An abort ends it while it waits for an item, and closes the source without waiting for that', async () => {
  const controller = new AbortController();
  let isClosed = false;
  let asked = 0;
  const source: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      next: () =>
        asked++ === 0
          ? Promise.resolve({ done: false, value: 'first' })
          : new Promise<never>(() => undefined),
      return: () => {
        isClosed = true;
        return new Promise<never>(() => undefined);
      },
    }),
  };
  const read: string[] = [];
  for await (const item of untilAborted(source, controller.signal)) {
    read.push(item);
    void setImmediate().then(() => controller.abort());
  }
  expect({ read, asked, isClosed }).toEqual({ read: ['first'], asked: 2, isClosed: true });
});

test('A source that has ended is not closed, and one whose reader leaves is', async () => {
  const closed: string[] = [];
  const source = (name: string): AsyncIterable<string> => {
    const items = ['first', 'second'];
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          const value = items.shift();
          return Promise.resolve(value === undefined ? { done: true, value } : { done: false, value });
        },
        return: () => {
          closed.push(name);
          return Promise.reject(new Error('cannot be closed'));
        },
      }),
    };
  };
  const { signal } = new AbortController();
  for await (const item of untilAborted(source('whole'), signal)) expect(item).toMatch(/first|second/);
  for await (const item of untilAborted(source('left'), signal)) {
    expect(item).toBe('first');
    break;
  }
  expect(closed).toEqual(['left']);
});

test('A failure of the source is thrown', async () => {
  async function* failing(): AsyncGenerator<string> {
    yield 'first';
    throw new Error('broken');
  }
  const read: string[] = [];
  const reading = (async () => {
    for await (const item of untilAborted(failing(), new AbortController().signal)) read.push(item);
  })();
  await expect(reading).rejects.toThrow('broken');
  expect(read).toEqual(['first']);
});
