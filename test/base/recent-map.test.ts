import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecentMap } from '../../src/base/index.ts';

/** The same by the order of insertion of a `Map`: plain, and slow. */
class Plain {
  readonly evicted: string[] = [];
  readonly kept = new Map<string, number>();
  readonly #maxSize: number;
  readonly #maxWeight: number;

  constructor(maxSize: number, maxWeight: number) {
    this.#maxSize = maxSize;
    this.#maxWeight = maxWeight;
  }

  get weight(): number {
    return [...this.kept.values()].reduce((sum, weight) => sum + weight, 0);
  }

  get(key: string): number | undefined {
    const weight = this.kept.get(key);
    if (weight !== undefined) this.set(key, weight);
    return weight;
  }

  set(key: string, weight: number): void {
    this.kept.delete(key);
    this.kept.set(key, weight);
    for (const [oldest] of this.kept) {
      if (oldest === key || (this.kept.size <= this.#maxSize && this.weight <= this.#maxWeight)) return;
      this.kept.delete(oldest);
      this.evicted.push(oldest);
    }
  }
}

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const step = fc.oneof(
  fc.record({ what: fc.constant('set' as const), key, weight: fc.nat(12) }),
  fc.record({ what: fc.constantFrom('get' as const, 'peek' as const, 'delete' as const), key }),
  fc.record({ what: fc.constant('clear' as const) }),
);

describe('RecentMap', () => {
  it('keeps what was used last, within its bounds', () => {
    const bounds = { maxSize: fc.integer({ min: 1, max: 5 }), maxWeight: fc.integer({ min: 1, max: 30 }) };
    fc.assert(
      fc.property(fc.record(bounds), fc.array(step, { maxLength: 60 }), ({ maxSize, maxWeight }, steps) => {
        const evicted: string[] = [];
        const map = new RecentMap<number>({ maxSize, maxWeight, onEvict: (gone) => evicted.push(gone) });
        const plain = new Plain(maxSize, maxWeight);
        for (const each of steps) {
          if (each.what === 'clear') {
            map.clear();
            plain.kept.clear();
          } else if (each.what === 'set') {
            map.set(each.key, each.weight, each.weight);
            plain.set(each.key, each.weight);
          } else if (each.what === 'peek') {
            expect(map.peek(each.key)).toBe(plain.kept.get(each.key));
          } else if (each.what === 'get') {
            expect(map.get(each.key)).toBe(plain.get(each.key));
          } else {
            expect(map.delete(each.key)).toBe(plain.kept.delete(each.key));
          }
          expect([...map.values()]).toEqual([...plain.kept.values()]);
          expect([map.size, map.weight]).toEqual([plain.kept.size, plain.weight]);
        }
        expect(evicted).toEqual(plain.evicted);
      }),
    );
  });

  it('keeps alone what weighs more than the whole bound', () => {
    const map = new RecentMap<string>({ maxSize: 10, maxWeight: 5 });
    map.set('light', 'light', 1);
    map.set('heavy', 'heavy', 9);
    expect([...map.values()]).toEqual(['heavy']);
    map.set('light', 'light', 1);
    expect([...map.values()]).toEqual(['light']);
  });
});
