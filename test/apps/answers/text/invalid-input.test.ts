import { expect, it } from 'vitest';
import { z } from 'zod';
import { inputSentence } from '../../../../src/apps/answers/text/reasons.ts';

const schema = z.strictObject({
  urls: z.array(z.string().min(1).max(5)).min(1).max(3),
  profile: z.enum(['google', 'rfc9309']).optional(),
});

it.each<[unknown, string]>([
  [7, 'the whole to be an object, got 7'],
  [{}, '`urls` to be a list, got nothing'],
  [{ urls: '/a' }, '`urls` to be a list, got a string'],
  [{ urls: [] }, '`urls` to be a list of at least 1, got less'],
  [{ urls: ['1', '2', '3', '4'] }, '`urls` to be a list of at most 3, got more'],
  [{ urls: ['/a', null] }, '`urls.1` to be a string, got nothing'],
  [{ urls: ['123456'] }, '`urls.0` to be at most 5 characters long, got more'],
  [{ urls: ['/'], profile: 'c' }, '`profile` to be one of google, rfc9309, got "c"'],
  [
    { urls: ['/'], profile: 'gogle' },
    '`profile` to be one of google, rfc9309, got "gogle"; did you mean google?',
  ],
  [{ urls: ['/'], url: '/' }, 'no "url": there is nothing of that name'],
  [
    { urls: [1, 2, 3] },
    '`urls.0` to be a string, got 1; expected `urls.1` to be a string, got 2; expected `urls.2` to be a string, got 3',
  ],
])('%j is told in plain words', (given, expected) => {
  const { error } = schema.safeParse(given);
  expect(error && inputSentence(error, given)).toBe(`Expected ${expected}`);
});
