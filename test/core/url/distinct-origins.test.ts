import { expect, it } from 'vitest';
import { DistinctOrigins } from '../../../src/core/url/index.ts';

it('DistinctOrigins recognises an earlier origin, and forgets the oldest beyond its bound', () => {
  const origins = new DistinctOrigins(2);
  expect(['a', 'b', 'a', 'c', 'b', 'a'].map((origin) => origins.add(origin))).toEqual([
    true,
    true,
    false,
    true,
    false,
    true,
  ]);
  expect(origins.count).toBe(4);
});
