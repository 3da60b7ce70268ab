import { describe, expect, it, vi } from 'vitest';
import { groupLines } from '../../../src/apps/answers/explanation.ts';
import { explain, lint, parseRobots, type RobotsFile, usage } from '../../../src/core/rules/index.ts';
import { fromUtf8 } from '../../../src/core/rules/bytes.ts';
import fc from '../../support/fast-check.ts';
import { runs } from '../../support/thorough.ts';

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Whatever is told of a file, as bytes of JSON. */
const answers: Readonly<Record<string, (file: RobotsFile) => unknown>> = {
  groups: (file) => file.groups,
  records: (file) => file.otherRecords,
  lint: (file) => lint(file),
  usage: (file) => usage(file, '/', 'a'),
  explanation: (file) => [explain(file, '/', 'a'), [...groupLines(file, 'a')]],
};

/** Bytes of the answer, and bytes that were decoded to make it: the work, without a clock. */
function cost(ask: (file: RobotsFile) => unknown, body: string): { received: number; decoded: number } {
  const decode = vi.spyOn(fromUtf8, 'decode');
  const received = bytesOf(ask(parseRobots(body)));
  const decoded = decode.mock.calls.reduce((sum, [bytes]) => sum + bytes.length, 0);
  decode.mockRestore();
  return { received, decoded };
}

const item = fc.constantFrom('a,', 'a', '*,', 'b/1.0 ,', '"x",', 'train-ai=n,', '\u0001', '\ufeff');
const line = fc.oneof(
  fc.constantFrom(
    ...'User-agent: a\n|User-agent: *\n|Disallow: /\n|Allow: /*$\n|Crawl-delay: 1\n|\n'.split('|'),
    ...'x y z\n|Content-Usage: train-ai=n\n|Content-Usage: / search=n\n'.split('|'),
    ...'Content-Signal: search=no\n|License: https://a/b\n|Sitemap: /s\n|Dissalow: /\n'.split('|'),
  ),
);
const key = fc.constantFrom(
  ...'User-agent: |Disallow: /|Content-Usage: |Content-Signal: |License: |x: '.split('|'),
);

/** A file that grows by lines, or by what stands in one line. */
const growing = fc.oneof(
  fc
    .array(line, { minLength: 1, maxLength: 4 })
    .map((lines) => (times: number) => lines.join('').repeat(times)),
  fc.tuple(key, fc.array(item, { minLength: 1, maxLength: 3 })).map(
    ([start, items]) =>
      (times: number) =>
        `User-agent: a\n${start}${items.join('').repeat(times)}\nDisallow: /\n`,
  ),
);

describe('the size of descriptions is linear in the size of the file', () => {
  it.each(Object.keys(answers))('%s: bytes of the description and of the file', (name) => {
    const ask = answers[name]!;
    fc.assert(
      fc.property(growing, (body) => {
        const few = cost(ask, body(250));
        const many = cost(ask, body(1_000));
        // Four times the file is four times the answer; line numbers get longer by a digit.
        expect(many.received).toBeLessThanOrEqual(few.received * 5 + 2_000);
        expect(many.decoded).toBeLessThanOrEqual(few.decoded * 4 + 2_000);
        expect(many.received).toBeLessThanOrEqual(body(1_000).length * 16 + 50_000);
      }),
      { numRuns: runs(20) },
    );
  });

  it('10,000 names on one line are described in five times its bytes', () => {
    const body = `User-agent: ${Array.from({ length: 10_000 }, (_, index) => `a${index}`).join(',')}\nDisallow: /`;
    const file = parseRobots(body);
    expect(file.groups[0]?.agentLines[0]?.names).toHaveLength(10_000);
    expect(bytesOf(file.groups)).toBeLessThan(body.length * 5);
    expect(file.check('/', 'a9999').allowed).toBe(false);
  });

  it.each([
    ['digits', '1'.repeat(100_000), 31_536_000_000],
    ['digits, and no digit at the end', `${'1'.repeat(100_000)}x`, undefined],
    ['digits behind a point, and no digit at the end', `.${'1'.repeat(100_000)}x`, undefined],
  ])(
    'a Crawl-delay of 100,000 %s takes no time by the square of them',
    { timeout: 5_000 },
    (_, delay, expected) => {
      const file = parseRobots(`User-agent: *\nCrawl-delay: ${delay}\nDisallow: /a`);
      expect(file.check('/a', 'a').allowed).toBe(false);
      expect(file.crawlDelay('a')).toBe(expected);
      const codes = lint(file).map(({ code }) => code);
      expect(codes.includes('invalid-crawl-delay')).toBe(expected === undefined);
    },
  );

  it('an answer about one URL is bounded', () => {
    const stars = '*'.repeat(400_000);
    const file = parseRobots(
      `${'User-agent: a\n'.repeat(10_000)}Disallow: /${stars}\n${'Content-Usage: train-ai=n\n'.repeat(5_000)}Content-Usage: ${'x=n,'.repeat(9_000)}search=n`,
    );
    const verdict = file.check('/', 'a');
    expect(verdict).toMatchObject({ allowed: false, rule: { line: 10_001 }, group: { omitted: 9_900 } });
    expect('group' in verdict && verdict.group.lines).toHaveLength(100);
    expect(bytesOf(verdict)).toBeLessThan(4_000);
    expect(file.groups[0]?.rules[0]?.pattern).toHaveLength(400_001);
    const allowing = parseRobots(
      `User-agent: a\n${'Content-Usage: train-ai=y\n'.repeat(5_000)}Content-Usage: ${Array.from({ length: 9_000 }, (_, index) => `x${index}=n`).join()}, train-ai=n`,
    );
    const stated = usage(allowing, '/', 'a');
    // What is not shown counts all the same.
    expect(stated).toMatchObject({ 'train-ai': 'disallow', omitted: 4_901 });
    expect(bytesOf(stated)).toBeLessThan(30_000);
    const header = usage(parseRobots(''), '/', 'a', {
      headers: { 'content-usage': `${'x'.repeat(99_999)}=n, train-ai=n` },
    });
    expect(header['train-ai']).toBe('disallow');
    expect(bytesOf(header)).toBeLessThan(3_000);
  });
});
