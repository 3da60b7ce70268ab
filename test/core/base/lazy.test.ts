import { expect, it } from 'vitest';
import { Lazy } from '../../../src/core/base/index.ts';

it('is loaded once, and again only after loading it has failed', async () => {
  let loads = 0;
  const lazy = new Lazy(async () => {
    loads++;
    if (loads === 1) throw new Error('EMFILE');
    return 'part';
  });
  const [one, other] = [lazy.get(), lazy.get()];
  await expect(one).rejects.toThrow('EMFILE');
  await expect(other).rejects.toThrow('EMFILE');
  expect(lazy.needed).toBeUndefined();
  expect(await Promise.all([lazy.get(), lazy.get()])).toEqual(['part', 'part']);
  expect([lazy.part, loads]).toEqual(['part', 2]);
});
