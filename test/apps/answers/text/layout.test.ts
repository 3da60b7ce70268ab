import { describe, expect, it } from 'vitest';
import { truncateToWidth, widthOf } from '../../../../src/apps/answers/text/layout.ts';
import { fileName, printable, quoted } from '../../../../src/core/base/index.ts';

describe('the width of an output', () => {
  it.each([
    [{ isTTY: true, columns: 80 }, 80],
    [{ isTTY: true, columns: 0 }, undefined],
    [{ isTTY: false, columns: 80 }, undefined],
  ])('of %j is %j', (sink, width) => {
    expect(widthOf(sink as never)).toBe(width);
  });
});

it('characters outside the BMP, which have two code units each, are cut as one', () => {
  expect([2, 3].map((width) => truncateToWidth('😀😀😀', width))).toEqual(['😀…', '😀😀😀']);
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
