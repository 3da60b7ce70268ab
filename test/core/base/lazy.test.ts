import { expect, it } from 'vitest';
import { Lazy } from '../../../src/core/base/index.ts';

it('is loaded once, and again only after loading it has failed', async () => {
  let loads = 0;
  const lazy = new Lazy(async () => {
    loads++;
    if (loads === 1) throw new Error('EMFILE');
    return 'part';
  });
  const [one, other] = [lazy.load(), lazy.load()];
  await expect(one).rejects.toThrow('EMFILE');
  await expect(other).rejects.toThrow('EMFILE');
  expect(lazy.pending).toBeUndefined();
  expect(await Promise.all([lazy.load(), lazy.load()])).toEqual(['part', 'part']);
  expect([lazy.value, loads]).toEqual(['part', 2]);
});
