import { describe, expect, it } from 'vitest';
import { urlWithoutUserinfo } from '../../../src/core/base/index.ts';

describe('a URL without user name and password', () => {
  it.each([
    ['https://me:secret@a.example/b@c', 'https://a.example/b@c'],
    ['//me@a.example/', '//a.example/'],
    ['redis://me:se@cret@a.example', 'redis://a.example'],
    // With a special scheme, what follows the colon is an authority, whatever slashes there are.
    ['http:me@a.example', 'http:a.example'],
    ['WS:/me@a.example', 'WS:/a.example'],
    ['f\tt\np:\\\\me@a.example', 'f\tt\np:\\\\a.example'],
    ['htp:me:secret@a.example', 'htp:a.example'],
  ])('%j is %j', (url, expected) => {
    expect(urlWithoutUserinfo(url)).toBe(expected);
  });

  it.each([
    'mailto:a@b.example',
    'mailto:a@b.example?cc=c@d.example',
    'a@b.example',
    '/a@b',
    'https://a.example/@b',
  ])('%s has no authority with user information, and stays', (url) => {
    expect(urlWithoutUserinfo(url)).toBe(url);
  });
});
