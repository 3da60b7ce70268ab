import { expect, it } from 'vitest';
import { answer, startSite } from '../../../support/site.ts';
import { cli } from '../../cli/session.ts';
import * as failureCodes from '../../../../src/core/fetch/failure.ts';
import { cause, whySentence } from '../../../../src/apps/answers/text/sentences.ts';
import { failures, PRIVATE_ADDRESS, redirectEnds } from '../../../../src/core/decision/index.ts';

/** What a request for robots.txt can fail with by itself. Codes of Node and of undici are too many to list. */
const codes = Object.values(failureCodes).filter(
  (value) => typeof value === 'string' && value !== failureCodes.STATUS,
);
const robots = {
  url: 'https://a.example/',
  finalUrl: 'https://a.example/',
  hops: 0,
  source: 'network',
} as const;

it('has words for every failure of our own, and shows the code beside them', () => {
  expect(codes.length).toBeGreaterThan(15);
  expect(codes.filter((code) => !Object.hasOwn(failures, code))).toEqual([]);
  for (const error of codes)
    expect(cause({ ...robots, error, hops: 1 })).toBe(`${failures[error]}, ${error}`);
});

it('gives the true reason for a private address, and the option that permits it', () => {
  const refused = { ...robots, error: 'ERR_ROBOTS_ADDRESS_REFUSED' };
  expect(cause(refused)).toBe(`${PRIVATE_ADDRESS}, ERR_ROBOTS_ADDRESS_REFUSED`);
  expect(PRIVATE_ADDRESS).toContain('--allow-private');
  expect(cause({ ...refused, hops: 1 })).toContain('redirects from a public to a private address');
});

it('says "until it is back" only where there is a time to ask again', () => {
  const unreachable = {
    reason: 'unreachable',
    state: 'disallow-all',
    robots: { ...robots, error: 'ECONNREFUSED' },
  } as const;
  expect(whySentence({ ...unreachable, retryAt: 1 })).toMatch(/so nothing may be fetched until it is back$/);
  expect(whySentence(unreachable)).toMatch(/so nothing may be fetched$/);
});

it.each(Object.entries(redirectEnds))('says why redirects led to no file: %s', (reason, words) => {
  const unavailable = reason as keyof typeof redirectEnds;
  expect(cause({ ...robots, status: 301, hops: 2, unavailable })).toBe(`301 after 2 redirects, ${words}`);
});

it('says it of a site whose redirects go in a circle', async () => {
  await using site = await startSite((request, response) => {
    answer(response, { status: 301, headers: { location: request.url === '/a' ? '/robots.txt' : '/a' } });
  });
  const { stdout } = await cli(['check', site.url('/')]);
  expect(stdout).toContain(
    'robots.txt is unavailable (301 after 1 redirect, the server redirects in a circle)',
  );
});
