import { describe, expect, it } from 'vitest';
import { type Dialect, explain, parseRobots, usage, type Verdict } from '../../../src/core/rules/index.ts';
import fc from '../../support/fast-check.ts';
import { runs } from '../../support/thorough.ts';

const lineOf = (verdict: Verdict): number => verdict.rule?.line ?? 0;

describe('any bytes', () => {
  const piece = fc.constantFrom(
    ...'User-agent:|user-agent *|Disallow:|Allow:|disallow /a b|Crawl-delay: 1e9|Sitemap:| '.split('|'),
    ...'\t|*|$|%|%2|%2F|%2f|%zz|/|?|#|:|,|\0|\r|\n|\r\n|\ufeff|é|foobot'.split('|'),
  );
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc.array(piece, { maxLength: 60 }).map((parts) => Uint8Array.from(Buffer.from(parts.join('')))),
  );
  const anyTarget = fc
    .oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.array(piece).map((parts) => parts.join('')),
    )
    .map((text) => `/${text}`);

  it('are read without throwing, with the same verdict twice', () => {
    const dialects: readonly Dialect[] = ['rfc9309', 'google', 'koster-1996', 'robotstxt-1994'];
    fc.assert(
      fc.property(body, anyTarget, fc.constantFrom('foobot', 'FooBot/1.0', '*', ''), (bytes, path, agent) => {
        for (const dialect of dialects) {
          const file = parseRobots(bytes, { dialect });
          const first = file.check(path, agent);
          expect(file.check(path, agent)).toEqual(first);
          expect(parseRobots(bytes, { dialect }).check(path, agent)).toEqual(first);
          if (first.reason === 'rule') expect(first.allowed).toBe(first.rule.directive === 'allow');
          expect(file.groups.length + file.sitemaps.length).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: runs(200) },
    );
  });

  it('mean the same with a mark in front, a comment behind, lines that end at CRLF, and for an agent in capitals', () => {
    const text = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join('').replaceAll('\ufeff', ''));
    fc.assert(
      fc.property(text, anyTarget, (plain, path) => {
        const verdict = (body: string, agent = 'foobot'): Verdict => {
          const { allowed, reason } = parseRobots(body).check(path, agent);
          return { allowed, reason } as Verdict;
        };
        const first = verdict(plain);
        expect(verdict(`\ufeff${plain}`)).toEqual(first);
        expect(verdict(`${plain}\n# Allow: /\n`)).toEqual(first);
        expect(verdict(plain.replaceAll(/\r\n?|\n/g, '\r\n'))).toEqual(first);
        expect(verdict(plain, 'FOOBOT')).toEqual(first);
      }),
      { numRuns: runs(200) },
    );
  });
});

describe('the lines that are rules', () => {
  const key = fc.constantFrom(
    ...'Allow|DISALLOW|dissallow|dissalow|disalow|diasllow|disallaw|allo|disallo|alloww'.split('|'),
    ...'user-agent|useragent|User Agent|user--agent|us|usera|u|a|al|d|di|dixxl|crawl-delay'.split('|'),
    ...'cr|c|sitemap|#| |\tallow|a\0ow'.split('|'),
    '',
  );
  const agentKey = fc.constantFrom('user-agent', 'USERAGENT', 'User Agent', ' uSeR aGeNt ');
  const separator = fc.constantFrom(':', ': ', ' ', '', ' : ');
  const end = fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\r');

  it('are the same for decisions and for descriptions', () => {
    const lines = fc.array(fc.tuple(key, separator, fc.constantFrom('', 'x'), end), { maxLength: 40 });
    fc.assert(
      fc.property(agentKey, lines, fc.boolean(), (first, list, ends) => {
        const others = list
          .map(([word, between, after, lineEnd], index) => {
            const value = /^us/i.test(word) ? '*' : `${after === '' ? '' : '/'}${after}${index + 100}`;
            return `${word}${between}${value}${index === list.length - 1 && !ends ? '' : lineEnd}`;
          })
          .join('');
        const body = `${first}: *\n${others}`;
        for (const dialect of ['rfc9309', 'google', 'koster-1996', 'robotstxt-1994'] as const) {
          const file = parseRobots(body, { dialect });
          const rules = file.groups
            .filter(({ agentLines }) => agentLines.some(({ names }) => names.includes('*')))
            .flatMap((group) => group.rules);
          for (const index of list.keys()) {
            const path = `/x${index + 100}`;
            const rule = rules.find((each) => each.pattern === path);
            const verdict = parseRobots(body, { dialect }).check(path, 'bot');
            expect([dialect, lineOf(verdict)]).toEqual([dialect, rule?.line ?? 0]);
            expect(file.check(path, 'bot')).toEqual(verdict);
          }
        }
      }),
      { numRuns: runs(40) },
    );
  });
});

describe('the end of lines', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', ':', '#', ' ', '\v', '\f', '\x09', 'é'),
    maxLength: 40,
  });
  const end = fc.constantFrom('\n', '\r', '\r\n', '\n\r');
  const filler = fc.array(fc.tuple(text, end), { maxLength: 12 });
  const group = fc.tuple(filler, end, end);

  it('is found at any offset in memory, in files of any size', () => {
    fc.assert(
      fc.property(fc.array(group, { minLength: 1, maxLength: 40 }), fc.nat(3), (groups, shift) => {
        const body = groups
          .map(([lines, first, second], index) => {
            // A filler starts with a word, so that it is neither an agent nor a rule.
            const others = lines.map(([line, lineEnd]) => `x${line}${lineEnd}`).join('');
            return `User-agent: bot${index}-${first}Disallow: /${index}/${second}${others}`;
          })
          .join('');
        const bytes = new TextEncoder().encode(body);
        const memory = new Uint8Array(bytes.length + shift);
        memory.set(bytes, shift);
        const file = parseRobots(memory.subarray(shift));
        for (const index of groups.keys()) {
          expect(file.check(`/${index}/`, `bot${index}-`)).toMatchObject({ allowed: false, reason: 'rule' });
        }
        expect(file.groups).toHaveLength(groups.length);
      }),
      { numRuns: runs(60) },
    );
  });
});

describe('large and hostile files', () => {
  it('50,000 groups, and 50,000 agents of one group', () => {
    const groups = Array.from(
      { length: 50_000 },
      (_, index) => `User-agent: bot${index}\nDisallow: /${index}\n`,
    ).join('');
    const file = parseRobots(groups);
    expect(file.check('/49999', 'bot49999')).toMatchObject({ allowed: false, rule: { line: 100_000 } });
    expect(file.check('/49999', 'bot1').allowed).toBe(true);
    expect(file.groups).toHaveLength(50_000);
    const agents = `${Array.from({ length: 50_000 }, (_, index) => `User-agent: bot${index}\n`).join('')}Disallow: /`;
    expect(parseRobots(agents).check('/', 'bot49999').allowed).toBe(false);
    expect(parseRobots(agents.replaceAll('\nUser-agent:', ',')).check('/', 'bot49999').allowed).toBe(false);
  });

  it('a line of 1 MB with escapes', () => {
    const file = parseRobots(`User-agent: *\nDisallow: /${'a%00'.repeat(250_000)}\nDisallow: /b`);
    expect(file.check('/b', 'x')).toMatchObject({ allowed: false, rule: { line: 3 } });
    expect(file.check(`/${'a%00'.repeat(16_000)}`, 'x').allowed).toBe(true);
  });

  it('a path of 65,536 bytes is matched, a longer one is refused like a URL', () => {
    const file = parseRobots('User-agent: *\nDisallow: /a\nContent-Usage: train-ai=n');
    for (const [longest, longer] of [
      [`/${'a'.repeat(65_535)}`, `/${'a'.repeat(65_536)}`],
      [`/aé${'€'.repeat(21_844)}`, `/aé${'€'.repeat(21_845)}`],
      [`/${'a'.repeat(65_535)}#a`, `/${'a'.repeat(65_536)}#`],
    ] as const) {
      const refusal = expect.objectContaining({
        code: 'ERR_ROBOTS_INVALID_URL',
        message: expect.stringContaining('a path of at most 65536 bytes'),
      });
      expect(file.check(longest, 'x')).toMatchObject({ rule: { line: 2 } });
      expect(explain(file, longest, 'x').verdict).toMatchObject({ rule: { line: 2 } });
      expect(() => file.check(longer, 'x')).toThrow(refusal);
      expect(() => explain(file, longer, 'x')).toThrow(refusal);
      expect(() => usage(file, longer, 'x')).toThrow(refusal);
    }
  });

  it('more rules than 16 bits can count', () => {
    const body = `User-agent: *\n${Array.from({ length: 70_000 }, (_, index) => `Disallow: /p${index}/\n`).join('')}`;
    const file = parseRobots(body);
    expect(file.check('/p69999/x', 'x')).toMatchObject({ rule: { line: 70_001 } });
    expect(file.check('/p70000/', 'x').allowed).toBe(true);
  });
});
