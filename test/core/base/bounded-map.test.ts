import fc from 'fast-check';
import { LRUCache } from 'lru-cache';
import { expect, it } from 'vitest';
import {
  type BoundedMap,
  type BoundedMapOptions,
  SmallBoundedMap,
} from '../../../src/core/base/bounded-map.ts';

interface Sized {
  readonly size: number;
}

const MAX_SIZE = 10;
const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const step = fc.oneof(
  fc.record({ act: fc.constant('set' as const), key, size: fc.integer({ min: 1, max: MAX_SIZE }) }),
  fc.record({ act: fc.constantFrom('get', 'peek', 'delete', 'pop', 'clear', 'rvalues'), key }),
);
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

/** What a map shows, and what it disposes of, step by step. */
function story(make: (options: BoundedMapOptions<Sized>) => BoundedMap<Sized>, steps: readonly Step[]) {
  const told: unknown[] = [];
  const map = make({
    maxSize: MAX_SIZE,
    sizeCalculation: ({ size }) => size,
    dispose: ({ size }, key, reason) => told.push(`${reason} ${key} ${size}`),
  });
  const shown = {
    get: (key: string) => map.get(key),
    peek: (key: string) => map.peek(key),
    delete: (key: string) => map.delete(key),
    pop: () => void map.pop(),
    clear: () => map.clear(),
    rvalues: () => [...map.rvalues()],
  };
  for (const each of steps) {
    told.push('size' in each ? void map.set(each.key, { size: each.size }) : shown[each.act](each.key));
    told.push(map.size, map.calculatedSize);
  }
  return told;
}

it('the map of Workers and pages does what `lru-cache` does', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const library = story((options) => new LRUCache(options), steps);
      expect(story((options) => new SmallBoundedMap(options), steps)).toEqual(library);
    }),
  );
});
