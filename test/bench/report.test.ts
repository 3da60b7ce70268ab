import { describe, expect, test } from 'vitest';
import { tableOf } from './measure.ts';
import { lineOf, quoted, renewed, rewritten, sectionOf, withNoise } from './report.ts';

const row = { what: 'a question', ours: '2 ns', peer: '8 ns', ratio: '4.0 ×', bar: '≥ 5 ×', held: false };
const order = ['first', 'warm', 'store-cost'];
const tables = '# Bench\n\n<!-- measured -->\n\n<!-- end -->\n\n## Rest\n';

describe('The tables', () => {
  const table = (what: string): string => tableOf([{ ...row, what }]);

  test('A part that is measured again replaces its own table, and leaves those of other parts', () => {
    const both = renewed(
      tables,
      [sectionOf('store-cost', 'on A', [row]), sectionOf('first', 'on A', [{ ...row, what: 'old' }])],
      order,
    );
    const again = renewed(both, [sectionOf('first', 'on B', [{ ...row, what: 'new' }])], order);
    expect(again).toBe(
      '# Bench\n\n<!-- measured -->\n\n' +
        `### \`first\`\n\non B\n\n${table('new')}\n\n` +
        '### `store-cost`\n\non A\n\n' +
        '| what       | canfetch | peer | ratio | bar               |\n' +
        '| ---------- | -------- | ---- | ----- | ----------------- |\n' +
        '| a question | 2 ns     | 8 ns | 4.0 × | ≥ 5 ×: **missed** |\n\n' +
        '<!-- end -->\n\n## Rest\n',
    );
  });

  test('A part that the bench no longer has loses its table', () => {
    const before = renewed(tables, [sectionOf('gone', 'on A', [row])], ['gone']);
    expect(renewed(before, [], order)).not.toContain('gone');
  });

  test('The first page quotes round ratios of the rows that say what it calls them', () => {
    const page = '`a(x)` is 2 × as fast, the\nother 3.5 ×, the last 4 ×.\n';
    const rows = [row, { ...row, quotedAs: '`a(x)` is' }, { ...row, ratio: '9.6 ×', quotedAs: 'the other' }];
    expect(quoted(page, rows)).toBe('`a(x)` is 4 × as fast, the\nother 10 ×, the last 4 ×.\n');
    expect(() => quoted(page, [{ ...row, quotedAs: 'nobody' }])).toThrow('Expected a page with "nobody');
  });

  test('A page without marks is not rewritten', () => {
    expect(() => rewritten('# Bench\n', () => '')).toThrow('Expected a page with the marks');
  });
});

test('A bar that is missed in one of two measurements is within the noise', () => {
  const other = { ...row, what: 'another question' };
  const [noisy, missed] = withNoise([row, other], [{ ...row, held: true }, other]);
  expect(tableOf([noisy ?? row])).toContain('≥ 5 ×: missed once of two |');
  expect(missed).toEqual(other);
  expect(withNoise([{ ...row, held: true }], [row])).toEqual([{ ...row, held: true, noisy: true }]);
});

test('A row is one line for those who watch, and says when its bar is missed', () => {
  expect(lineOf(row)).toBe('a question: 2 ns · 8 ns · 4.0 × (bar ≥ 5 ×, MISSED)');
  expect(lineOf({ ...row, noisy: true })).toBe('a question: 2 ns · 8 ns · 4.0 × (bar ≥ 5 ×, within noise)');
  expect(lineOf({ ...row, peer: '', bar: '', held: true })).toBe('a question: 2 ns · 4.0 ×');
});
