import { beforeEach, describe, expect, it } from 'vitest';
import { CacheEntry } from '../../../src/core/cache/entry.ts';
import { OriginMemory } from '../../../src/core/cache/origin-memory.ts';
import { RecentEntries } from '../../../src/core/cache/recent-entries.ts';
import { type OriginRecord, profiles } from '../../../src/core/lifecycle/index.ts';
import { VirtualClock } from '../../support/client.ts';
import { Chance } from '../../support/random.ts';

const A = 'https://a.example';
const B = 'https://b.example';

describe('a signal about a site', () => {
  let memory: OriginMemory;
  const noted = (): unknown[] => memory.records().map(({ origin, site }) => [origin, site?.reachable]);

  beforeEach(() => {
    const clock = new VirtualClock();
    memory = new OriginMemory({ maxOrigins: 9, maxBytes: 99_999, clock, profileOf: () => profiles.rfc9309 });
    memory.noteSite(A, false);
    memory.noteSite(B, true);
  });

  it('is noted for its origin; the last one wins', () => {
    memory.noteSite(A, true);
    expect(noted()).toEqual([
      [B, true],
      [A, true],
    ]);
  });

  it('is gone when the origin is forgotten', () => {
    memory.forget(A);
    expect(noted()).toEqual([[B, true]]);
  });

  it('is gone when memory is closed', () => {
    memory.close();
    expect(noted()).toEqual([]);
  });
});

describe('the entries in memory', () => {
  const entryOf = (origin: string): CacheEntry =>
    new CacheEntry({ origin } as OriginRecord, profiles.rfc9309);
  const BYTES = entryOf('00').sizeBytes;

  it('are bounded in number and in bytes; the least recently used goes first, as in a list that is sorted by use', () => {
    for (const [maxOrigins, maxBytes] of [
      [5, Infinity],
      [99, 5 * BYTES],
      [99, 6 * BYTES - 1],
    ] as const) {
      const evicted: string[] = [];
      const expected: string[] = [];
      const entries = new RecentEntries(maxOrigins, maxBytes, ({ record }, isEvicted) => {
        if (isEvicted) evicted.push(record.origin);
      });
      /** Least recently used first. */
      const list: string[] = [];
      const chance = new Chance(maxOrigins);
      for (let step = 0; step < 2_000; step++) {
        const origin = String(chance.below(10)).padStart(2, '0');
        const at = list.indexOf(origin);
        const kind = chance.below(4);
        if (kind === 0) expect(entries.delete(origin)).toBe(at >= 0);
        else if (kind === 1) entries.set(entryOf(origin));
        else expect(entries.get(origin)?.record.origin).toBe(list[at]);
        if (at >= 0) list.splice(at, 1);
        if (kind === 1 || (kind > 1 && at >= 0)) list.push(origin);
        if (list.length > 5) expected.push(list.shift()!);
        expect(Array.from(entries.oldestFirst(), ({ record }) => record.origin)).toEqual(list);
        expect([entries.size, entries.bytes]).toEqual([list.length, list.length * BYTES]);
      }
      expect(evicted.length).toBeGreaterThan(50);
      expect(evicted).toEqual(expected);
      entries.clear();
      expect([entries.size, entries.bytes, [...entries.oldestFirst()]]).toEqual([0, 0, []]);
    }
  });

  it('keep one that is larger than the bound, alone', () => {
    const entries = new RecentEntries(9, BYTES + 10, () => {});
    entries.set(entryOf('00'));
    entries.set(entryOf('x'.repeat(100)));
    expect([entries.size, entries.bytes]).toEqual([1, BYTES + 10]);
    entries.set(entryOf('01'));
    expect(Array.from(entries.oldestFirst(), ({ record }) => record.origin)).toEqual(['01']);
  });
});
