import { describe, expect, it } from 'vitest';
import { isRedirect, redirectTarget } from '../../../src/core/fetch/location.ts';

const BASE = new URL('http://example.com/a/robots.txt');

it('directions are 301, 302, 303, 307 and 308 alone', () => {
  const statuses = Array.from({ length: 600 }, (_, status) => status);
  expect(statuses.filter(isRedirect)).toEqual([301, 302, 303, 307, 308]);
});

describe('a redirect leads', () => {
  it.each([
    ['b', 'http://example.com/a/b'],
    ['/b?q', 'http://example.com/b?q'],
    ['//other.example/b', 'http://other.example/b'],
    ['https://user:secret@other.example/b#top', 'https://other.example/b'],
    ['https://user@other.example/', 'https://other.example/'],
    ['#top', 'http://example.com/a/robots.txt'],
    // The URL parser of Node 20 and 22 keeps these dot segments.
    ['/docs/.cfg/../private?/../', 'http://example.com/docs/private?/../'],
    ['.cfg/%2e%2e/robots.txt', 'http://example.com/a/robots.txt'],
  ])('with %j to %s', (location, expected) => {
    expect(String(redirectTarget(location, BASE))).toBe(expected);
  });

  it.each([undefined, '', 'http://', 'https://[::1', '//exa mple.com/'])(
    'nowhere without a usable address: %j',
    (location) => {
      expect(redirectTarget(location, BASE)).toBe('ERR_ROBOTS_REDIRECT_LOCATION');
    },
  );

  it.each(['ftp://example.com/robots.txt', 'file:///robots.txt', 'data:,x', 'javascript:1', 'httpx://a/'])(
    'nowhere by a scheme that is not fetched: %j',
    (location) => {
      expect(redirectTarget(location, BASE)).toBe('ERR_ROBOTS_REDIRECT_SCHEME');
    },
  );
});
