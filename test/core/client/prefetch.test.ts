import { expect, it } from 'vitest';
import { RobotsClient } from '../../../src/index.ts';
import { DistinctOrigins } from '../../../src/core/url/index.ts';

it('a prefetch keeps the first thousand invalid URLs, and counts all', async () => {
  await using client = new RobotsClient();
  const { invalid, invalidCount } = await client.prefetch(Array.from({ length: 1_500 }, (_, n) => `no ${n}`));
  expect([invalid.length, invalidCount, invalid[999]?.input]).toEqual([1_000, 1_500, 'no 999']);
});

it('an origin that is too long for any host is not remembered', () => {
  const origins = new DistinctOrigins();
  const long = `http://${'a'.repeat(1_000)}.example`;
  expect([origins.add(long), origins.add(long), origins.count]).toEqual([true, true, 2]);
});
