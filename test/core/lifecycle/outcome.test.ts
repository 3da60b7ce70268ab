import { expect, it } from 'vitest';
import { classifyStatus, type Outcome, withoutRedirects } from '../../../src/core/lifecycle/index.ts';
import { outcomes } from './support.ts';

type Success = Extract<Outcome, { readonly kind: 'success' }>;

it('a shared success has the final URL, no hop and no redirects', () => {
  const shared = outcomes.success({ etag: '"1"' }) as Success;
  const redirects = [{ url: 'https://example.com/robots.txt', status: 301, location: '/r' }];
  const redirected = { ...shared, finalUrl: 'https://www.example.com/robots.txt', hops: 1, redirects };
  expect(withoutRedirects(redirected)).toStrictEqual({
    ...shared,
    finalUrl: 'https://www.example.com/robots.txt',
    hops: 0,
  });
  expect(withoutRedirects({ ...redirected, suspect: 'html' })).toMatchObject({ hops: 0, suspect: 'html' });
});

it.each([
  [404, 'restricted'],
  [403, 'unavailable'],
  [503, 'unreachable'],
  [304, 'unreachable'],
] as const)(
  'status %i has the meaning of its code, else of its class, else unreachable: %s',
  (status, meaning) => {
    expect(classifyStatus(status, { status: { '404': 'restricted', '4xx': 'unavailable' } })).toBe(meaning);
  },
);
