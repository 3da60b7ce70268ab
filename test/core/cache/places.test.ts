import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Places } from '../../../src/core/cache/places.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Starts work that hangs until `end` of its name is called, and notes the order in which work began. */
function scene(size: number) {
  const places = new Places(size);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string): Promise<string> =>
    places.run(
      () =>
        new Promise((resolve) => {
          begun.push(name);
          ends.set(name, () => resolve(name));
        }),
    );
  return { places, begun, run, end: (name: string) => ends.get(name)?.() };
}

describe('places', () => {
  it('bound the work under way; a free one goes to the newest and to the oldest in turn', async () => {
    const { begun, run, end } = scene(2);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) void run(name);
    await vi.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(['a', 'b']);
    for (const name of ['a', 'f', 'c', 'e']) {
      end(name);
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(begun).toEqual(['a', 'b', 'f', 'c', 'e', 'd']);
  });

  it('are given up after 2 s, so that one asked behind 1,000 that hang is asked within 3 s', async () => {
    const { begun, run } = scene(32);
    for (let index = 0; index < 1_000; index++) void run(`slow ${index}`);
    void run('healthy');
    await vi.advanceTimersByTimeAsync(1_999);
    expect(begun).toHaveLength(32);
    await vi.advanceTimersByTimeAsync(1);
    expect(begun).toContain('healthy');
  });

  it('are given up by 8 times their number at most', async () => {
    const { begun, run, end } = scene(2);
    for (let index = 0; index < 50; index++) void run(String(index));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(begun).toHaveLength(2 + 8 * 2);
    end('0');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(begun).toHaveLength(2 + 8 * 2);
    end(begun.at(-1)!);
    await vi.advanceTimersByTimeAsync(0);
    expect(begun).toHaveLength(3 + 8 * 2);
  });

  it('start nothing that waited when they were cleared', async () => {
    const { places, begun, run, end } = scene(1);
    void run('a');
    await vi.advanceTimersByTimeAsync(0);
    void run('b');
    places.clear();
    end('a');
    await vi.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(['a']);
    void run('c');
    await vi.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(['a', 'c']);
  });
});
