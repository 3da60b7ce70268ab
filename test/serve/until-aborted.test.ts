import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { untilAborted } from '../../src/serve/until-aborted.ts';
import { usedBytes } from '../support/garbage.ts';

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

test('An abort ends the stream while it waits for an item, and leaves the source open', async () => {
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
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
  const read: string[] = [];
  for await (const item of untilAborted(source, controller.signal)) {
    read.push(item);
    void setImmediate().then(() => controller.abort());
  }
  expect({ read, asked, isClosed }).toEqual({ read: ['first'], asked: 2, isClosed: false });
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
