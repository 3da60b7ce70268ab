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
    if (read === 10 || read === 110) used.push(await usedBytes());
    if (read === 110) break;
  }
  const [early = 0, late = Infinity] = used;
  expect(late - early).toBeLessThan(5 * KIB * KIB);
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
