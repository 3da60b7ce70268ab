import { describe, expect, it } from 'vitest';
import { truncateToWidth, widthOf, wrap } from '../../../../src/apps/answers/text/layout.ts';
import { fileName, printable, quoted } from '../../../../src/core/base/index.ts';

describe('the width of an output', () => {
  it.each([
    [{ isTTY: true, columns: 80 }, 80],
    [{ isTTY: true, columns: 0 }, undefined],
    [{ isTTY: true }, undefined],
    [{ isTTY: false, columns: 80 }, undefined],
  ])('of %j is %j', (sink, width) => {
    expect(widthOf(sink as never)).toBe(width);
  });
});

describe('truncateToWidth', () => {
  it.each([
    ['abcd', undefined, 'abcd'],
    ['abcd', 4, 'abcd'],
    ['abcd', 3, 'ab…'],
    ['abcd', 1, '…'],
    ['abcd', 0, '…'],
    // Characters outside the BMP have two code units each.
    ['😀😀😀', 3, '😀😀😀'],
    ['😀😀😀', 2, '😀…'],
  ])('%s to %j is %s', (text, width, expected) => {
    expect(truncateToWidth(text, width)).toBe(expected);
  });
});

describe('wrap', () => {
  it.each<[string, number | undefined, readonly string[]]>([
    ['a b c', undefined, ['a b c']],
    ['a b c', 5, ['a b c']],
    ['a b c', 4, ['a b', 'c']],
    ['a b c', 3, ['a b', 'c']],
    ['a b c', 2, ['a', 'b', 'c']],
    ['long words here', 4, ['long', 'words', 'here']],
  ])('%j to %j is %j', (text, width, lines) => {
    expect(wrap(text, width)).toEqual(lines);
  });
});

describe('printable', () => {
  it('escapes control and format characters', () => {
    expect(printable('a\n\u001b[31m\u202e\u2028\u00ad\u{e0001}ä')).toBe(
      String.raw`a\x0a\x1b[31m\u{202e}\u{2028}\xad\u{e0001}ä`,
    );
  });

  it('cuts above the length', () => {
    expect(printable('abc', 3)).toBe('abc');
    expect(printable('abcd', 3)).toBe('abc…');
    expect(printable('x'.repeat(401))).toBe(`${'x'.repeat(400)}…`);
    expect(printable('x'.repeat(400))).toBe('x'.repeat(400));
  });

  it('quotes, and names standard input', () => {
    expect(quoted('a\n')).toBe(String.raw`"a\x0a"`);
    expect([fileName('-'), fileName('a\tb')]).toEqual(['standard input', String.raw`a\x09b`]);
  });
});
