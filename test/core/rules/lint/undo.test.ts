import { describe, expect, it } from 'vitest';
import { type Dialect, lint, parseRobots } from '../../../../src/core/rules/index.ts';
import fc from '../../../support/fast-check.ts';
import { runs } from '../../../support/thorough.ts';
import { asked, falseFindings, oracles } from './undo.ts';

const path = fc.constantFrom(
  ...[
    '/',
    '/p',
    '/p/q',
    '/*',
    '/x*y',
    '/p$',
    '',
    '\x01/p',
    '/p\x01',
    '/p\x01q',
    '/q',
    '/*$',
    '/p*',
    'x',
    '/*/x',
    '/%70',
  ],
);
const line = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(...'*|a|b|c|A|a, b|"x"||*, c'.split('|')).map((name) => `User-agent: ${name}`),
  },
  { weight: 6, arbitrary: path.map((pattern) => `Disallow: ${pattern}`) },
  { weight: 4, arbitrary: path.map((pattern) => `Allow: ${pattern}`) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...[
        '',
        '',
        'Crawl-delay: 1',
        'Content-Usage: train-ai=n',
        'Content-Signal: ai-train=no',
        'Content-Signal: use=immediate',
        'Content-Signal: ai=no',
        'Content-Usage: foo=n',
        'Content-Usage: foo=bar, train-ai=n',
        'Content-Usage: train-ai=no, search=y',
        'Content-Signal: search=yes, ai-train',
        'Content-Signal: use=reference, train',
        'Content-Usage: /p',
        'Content-Usage: /p train-ai=n',
        'X: y',
        '# c',
      ],
      ...['Sitemap: https://a.example/s', 'Dissalow: /p', 'Disalow-: /p', 'hello world again', 'Noindex: /a'],
    ),
  },
);
/** Groups that are shared, merged and repeated, with void rules and control characters. */
const file = fc.array(line, { minLength: 3, maxLength: 16 }).map((lines) => lines.join('\n'));

describe('what a finding says is so, and is no more when what it names is undone', () => {
  it.each<Dialect>(['rfc9309', 'google'])('in files made at random: %s', (dialect) => {
    fc.assert(
      fc.property(file, (text) => {
        expect(falseFindings(Buffer.from(text, 'latin1'), dialect)).toEqual([]);
      }),
      { numRuns: runs(150) },
    );
  });

  it('for every code that says what a line does, in some of these files', () => {
    const met = new Set<string>();
    for (const text of fc.sample(file, { numRuns: 600, seed: 1 }))
      for (const { code } of lint(parseRobots(text))) met.add(code);
    expect(Object.keys(oracles).filter((code) => !met.has(code))).toEqual([]);
  });

  it('and is told from what is not so', () => {
    const all = asked(
      Buffer.from('User-agent: *\nDisallow: /\nUser-agent: a\nDisallow: /\nAllow: /p'),
      'rfc9309',
    );
    const at = { severity: 'info', line: 2, column: 11, text: '/' } as const;
    const judged = (
      finding: Parameters<NonNullable<(typeof oracles)['site-closed']>>[1],
    ): boolean | undefined => oracles[finding.code]?.(all, finding);
    expect(judged({ ...at, code: 'site-closed', otherLine: 2, agents: ['a'] })).toBe(true);
    expect(judged({ ...at, code: 'site-closed', otherLine: 2, agents: ['b'] })).toBe(false);
    expect(judged({ ...at, code: 'shadowed-rule', otherLine: 4 })).toBe(false);
    expect(judged({ ...at, code: 'not-inherited', line: 3, agents: ['a'], otherLines: [2] })).toBe(false);
    expect(judged({ ...at, code: 'rule-outside-group' })).toBe(false);
  });
});
