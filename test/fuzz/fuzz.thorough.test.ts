import { expect, it } from 'vitest';
import { fuzz } from './fuzz.ts';

/** The short variant of `npm run fuzz`. */
it('the way from bytes to decisions keeps its promises, whatever comes', async () => {
  const { inputs, kinds } = await fuzz({ seed: 9309, goesOn: (count) => count < 200 });
  expect(inputs).toBe(200);
  expect(Object.keys(kinds).sort()).toEqual(['success', 'unavailable', 'unreachable']);
}, 180_000);
