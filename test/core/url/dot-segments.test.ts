import { describe, expect, it } from 'vitest';
import { removeDotSegments, locate, LocatedUrl, targetOf } from '../../../src/core/url/origin.ts';
import fc from '../../support/fast-check.ts';
import { runs } from '../../support/thorough.ts';

describe('dot segments of a URL', () => {
  it.each([
    ['/a/.b/%2E%2e/c', '/a/c'],
    ['/a/.b/..?x=/../y#/../z', '/a/?x=/../y'],
    ['/.well-known/x', '/.well-known/x'],
  ])('%s → %s', (path, target) => {
    expect(targetOf(`http://host${path}`)).toBe(target);
    expect(targetOf(new URL(`https://user:p@host:81${path}`))).toBe(target);
    const bare = `http://host${path.split('#')[0]}`;
    expect(removeDotSegments(bare)).toBe(`http://host${target}`);
  });

  /** URL Standard §4.4, path state: segment by segment, as written there. */
  function pathState(path: string): string {
    const output: string[] = [];
    let buffer = '';
    const characters = [...path.slice(1), undefined];
    for (const c of characters) {
      if (c !== '/' && c !== undefined) {
        buffer += c;
        continue;
      }
      const dots = buffer.toLowerCase().replaceAll('%2e', '.');
      if (dots === '..') output.pop();
      if (dots === '..' || dots === '.') {
        if (c === undefined) output.push('');
      } else output.push(buffer);
      buffer = '';
    }
    return `/${output.join('/')}`;
  }

  it('are removed as the URL Standard says, from any path', () => {
    const segment = fc.constantFrom(...'. .. ... .a a b %2e %2E. .%2e %2ea %2f'.split(' '), '');
    const path = fc
      .array(segment, { minLength: 1, maxLength: 8 })
      .map((segments) => `/${segments.join('/')}`);
    const located = new LocatedUrl();
    fc.assert(
      fc.property(path, fc.constantFrom('', '?q', '?/../q', '#/..'), (text, tail) => {
        locate(`http://host${text}${tail}`, located);
        expect(located.href).toBe(`http://host${pathState(text)}${tail}`);
        expect(removeDotSegments(located.href)).toBe(located.href);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
