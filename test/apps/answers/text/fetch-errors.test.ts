import { expect, it } from 'vitest';
import * as failures from '../../../../src/core/fetch/failure.ts';
import { cause, fetchErrors } from '../../../../src/apps/answers/text/fetch-errors.ts';

/** What a request for robots.txt can fail with by itself. Codes of Node and of undici are too many to list. */
const codes = Object.values(failures).filter(
  (value) => typeof value === 'string' && value !== failures.STATUS,
);
const robots = {
  url: 'https://a.example/',
  finalUrl: 'https://a.example/',
  hops: 0,
  source: 'network',
} as const;

it('has words for every failure of our own, and shows the code beside them', () => {
  expect(codes.length).toBeGreaterThan(15);
  expect(codes.filter((code) => !Object.hasOwn(fetchErrors, code))).toEqual([]);
  for (const error of codes) expect(cause({ ...robots, error })).toBe(`${fetchErrors[error]}, ${error}`);
});

it('has words for the same failures as the page of the service', async () => {
  const texts = new URL('../../../../src/apps/serve/page/texts.js', import.meta.url);
  const { failures: ofPage } = (await import(texts.href)) as { readonly failures: object };
  expect(Object.keys(ofPage)).toEqual(Object.keys(fetchErrors));
});
