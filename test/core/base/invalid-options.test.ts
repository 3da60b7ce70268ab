import { describe, expect, it } from 'vitest';
import { assertKnownOptions, closestChoice, isWithinEditDistance } from '../../../src/core/base/index.ts';
import fc from '../../support/fast-check.ts';

/** Letters few enough that slips meet. */
const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 5 });

/** Every word that one slip makes of `from`. */
function slipsOf(from: string): Set<string> {
  const made = new Set<string>();
  for (let at = 0; at <= from.length; at++) {
    const [before, after] = [from.slice(0, at), from.slice(at)];
    for (const letter of 'abc') {
      made.add(before + letter + after);
      if (after !== '') made.add(before + letter + after.slice(1));
    }
    if (after !== '') made.add(before + after.slice(1));
    if (after.length > 1) made.add(`${before}${after[1]}${after[0]}${after.slice(2)}`);
  }
  return made;
}

describe('the choice that was probably meant', () => {
  const purposes = ['train-ai', 'ai-use', 'ai-input', 'search'];

  it.each([
    // Cloudflare's spelling.
    ['ai-train', 'train-ai'],
    ['AI-Train', 'train-ai'],
    ['serch', 'search'],
    ['ai-usee', 'ai-use'],
    ['fun', undefined],
    ['', undefined],
    [1, undefined],
  ])('for %j is %j', (got, meant) => {
    expect(closestChoice(got, purposes)).toBe(meant);
  });
});

describe('isWithinEditDistance', () => {
  it.each([
    ['allow', 'allow', 0, true],
    ['alow', 'allow', 1, true],
    ['alolw', 'allow', 1, true],
    ['disalow', 'allow', 2, false],
    ['chekc', 'check', 1, true],
    ['', 'a', 1, true],
    ['', 'ab', 1, false],
  ])('%s and %s within %i: %s', (one, other, edits, near) => {
    expect(isWithinEditDistance(one, other, edits)).toBe(near);
  });

  it('with one edit, is exactly the words that one slip makes', () => {
    fc.assert(
      fc.property(word, word, (one, other) => {
        expect(isWithinEditDistance(one, other, 1)).toBe(one === other || slipsOf(other).has(one));
      }),
    );
  });
});

it('proposes the closest of several known options', () => {
  const known = ['defaultDelayMs', 'minDelayMs', 'maxDelayMs'];
  expect(() => assertKnownOptions({ maxDelayMS: 1 }, known, 'pacing.')).toThrow(
    'Expected only known options, got `pacing.maxDelayMS`; did you mean `pacing.maxDelayMs`?',
  );
});
