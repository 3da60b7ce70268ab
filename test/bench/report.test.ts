import { describe, expect, test } from 'vitest';
import { lineOf, renewed, sectionOf } from './report.ts';

const row = { what: 'a question', ours: '2 ns', peer: '8 ns', ratio: '4.0 ×', bar: '≥ 5 ×', held: false };
const order = ['first', 'warm', 'cold'];
const tables = '# Bench\n\n<!-- measured -->\n\n<!-- end -->\n\n## Rest\n';

describe('The tables', () => {
  test('A part that is measured again replaces its own table, and leaves those of other parts', () => {
    const both = renewed(
      tables,
      [sectionOf('cold', 'on A', [row]), sectionOf('first', 'on A', 'old')],
      order,
    );
    const again = renewed(both, [sectionOf('first', 'on B', 'new')], order);
    expect(again).toBe(
      '# Bench\n\n<!-- measured -->\n\n' +
        '### `first`\n\non B\n\nnew\n\n' +
        '### `cold`\n\non A\n\n' +
        '| what       | canfetch | peer | ratio | bar               |\n' +
        '| ---------- | -------- | ---- | ----- | ----------------- |\n' +
        '| a question | 2 ns     | 8 ns | 4.0 × | ≥ 5 ×: **missed** |\n\n' +
        '<!-- end -->\n\n## Rest\n',
    );
  });

  test('A part that the bench no longer has loses its table', () => {
    const before = renewed(tables, [sectionOf('gone', 'on A', 'x')], ['gone']);
    expect(renewed(before, [], order)).not.toContain('gone');
  });
});

test('A row is one line for those who watch, and says when its bar is missed', () => {
  expect(lineOf(row)).toBe('a question: 2 ns · 8 ns · 4.0 × (bar ≥ 5 ×, MISSED)');
  expect(lineOf({ ...row, peer: '', bar: '', held: true })).toBe('a question: 2 ns · 4.0 ×');
});
