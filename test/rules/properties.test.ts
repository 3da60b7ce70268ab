import { describe, expect, it } from 'vitest';
import { type Dialect, parseRobots, type Verdict } from '../../src/rules/index.ts';
import { endOfIndexed, indexTarget } from '../../src/rules/matcher/target-index.ts';
import { cpuMs } from '../support/cpu-time.ts';
import fc from '../support/fast-check.ts';
import { runs } from '../support/thorough.ts';

/** The plainest reading of patterns: one position set, octet after octet. For ASCII without escapes. */
function naiveMatch(pattern: string, target: string): boolean {
  const anchored = pattern.endsWith('$');
  const body = anchored ? pattern.slice(0, -1) : pattern;
  let positions = new Set([0]);
  for (const character of body) {
    const next = new Set<number>();
    for (const position of positions) {
      if (character === '*') for (let at = position; at <= target.length; at++) next.add(at);
      else if (target[position] === character) next.add(position + 1);
    }
    positions = next;
  }
  return anchored ? positions.has(target.length) : positions.size > 0;
}

interface PlainRule {
  readonly allow: boolean;
  readonly pattern: string;
}

function naiveCheck(rules: readonly PlainRule[], target: string): { allowed: boolean; line: number } {
  let best: { rule: PlainRule; line: number } | undefined;
  for (const [index, rule] of rules.entries()) {
    if (rule.pattern === '' || !naiveMatch(rule.pattern, target)) continue;
    const more = best === undefined ? 1 : rule.pattern.length - best.rule.pattern.length;
    if (more > 0 || (more === 0 && rule.allow && best?.rule.allow === false))
      best = { rule, line: index + 2 };
  }
  return { allowed: best?.rule.allow ?? true, line: best?.line ?? 0 };
}

const lineOf = (verdict: Verdict): number => (verdict.reason === 'rule' ? verdict.rule.line : 0);

const character = fc.constantFrom('a', 'b', 'ab', '/', '?', '.', '*', '*', '**', '$');
const pattern = fc.array(character, { maxLength: 9 }).map((parts) => `/${parts.join('')}`);
const target = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'aab', '/', '?', '.'), { maxLength: 12 })
  .map((parts) => `/${parts.join('')}`);

describe('against a naive matcher', () => {
  it.each([
    ['a few rules', 12, 200],
    // Each number of rules has its own way of being compiled.
    ['some rules', 120, 150],
    ['many rules', 700, 100],
  ])('%s have the same verdict and line', (_, maxLength, numRuns) => {
    const rules = fc.array(fc.record({ allow: fc.boolean(), pattern }), {
      minLength: maxLength / 2,
      maxLength,
    });
    fc.assert(
      fc.property(rules, fc.array(target, { minLength: 1, maxLength: 5 }), (list, targets) => {
        const body = list.map((rule) => `${rule.allow ? 'Allow' : 'Disallow'}: ${rule.pattern}\n`).join('');
        for (const dialect of ['rfc9309', 'google'] as const) {
          const file = parseRobots(`User-agent: *\n${body}`, { dialect });
          for (const each of targets) {
            const verdict = file.check(each, 'x');
            expect({ allowed: verdict.allowed, line: lineOf(verdict) }).toEqual(naiveCheck(list, each));
            // The first question about a file compiles nothing, later ones do.
            expect(file.check(each, 'x')).toEqual(verdict);
            expect(parseRobots(`User-agent: *\n${body}`, { dialect }).check(each, 'x')).toEqual(verdict);
            // Dot segments would be resolved; what is left is the same by its URL.
            if (!each.includes('/.'))
              expect(file.check(`https://example.com${each}#f`, 'x')).toEqual(verdict);
          }
        }
      }),
      { numRuns: runs(numRuns) },
    );
  });

  it('enough wildcard rules for an indexed target have the same verdict', () => {
    const unit = fc.constantFrom('a', 'b', 'ab', 'aab', 'ba', 'aaaaaaab', 'abba');
    const run = (most: number): fc.Arbitrary<string> =>
      fc.tuple(unit, fc.integer({ min: 1, max: most })).map(([part, times]) => part.repeat(times));
    const wild = fc
      .tuple(fc.array(run(12), { minLength: 1, maxLength: 3 }), fc.constantFrom('', '', '$', '*c', 'c'))
      .map(([runs, end]) => `/*${runs.join('*')}${end}`);
    const rules = fc.array(fc.record({ allow: fc.boolean(), pattern: fc.oneof(wild, wild, pattern) }), {
      minLength: 400,
      maxLength: 600,
    });
    const long = fc
      .array(run(40), { minLength: 6, maxLength: 9 })
      .map((runs) => `/c${'a'.repeat(600)}${runs.join('')}`);
    // Longer than the other rules, so tried first; nearly fits in hundreds of places, and in none.
    const inVain = `Disallow: /*${'a'.repeat(300)}c\n`;
    const sentinel = Buffer.from('x~');
    fc.assert(
      fc.property(rules, long, (list, each) => {
        const body = list.map((rule) => `${rule.allow ? 'Allow' : 'Disallow'}: ${rule.pattern}\n`).join('');
        const file = parseRobots(`User-agent: *\n${body}${inVain}`);
        const expected = naiveCheck(list, each);
        for (let question = 0; question < 2; question++) {
          indexTarget(sentinel, 0, sentinel.length);
          const verdict = file.check(each, 'x');
          expect({ allowed: verdict.allowed, line: lineOf(verdict) }).toEqual(expected);
          // The target was indexed, and its index freed: that of the sentinel is gone.
          expect(endOfIndexed(0, sentinel, 0, sentinel.length)).not.toBe(sentinel.length);
        }
      }),
      { numRuns: runs(25) },
    );
  });

  it('thousands of prefixes of each other have the same verdict, with anchors and without', () => {
    const path = fc
      .array(fc.constantFrom('a', 'b', 'a/', 'aa'), { maxLength: 30 })
      .map((parts) => `/${parts.join('')}`);
    const rule = fc.record({
      allow: fc.boolean(),
      pattern: fc.tuple(path, fc.constantFrom('', '', '$', '*')).map((parts) => parts.join('')),
    });
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 300, maxLength: 900 }),
        fc.array(path, { minLength: 5 }),
        (list, targets) => {
          const body = list.map((each) => `${each.allow ? 'Allow' : 'Disallow'}: ${each.pattern}\n`).join('');
          const file = parseRobots(`User-agent: *\n${body}`);
          for (const each of targets) {
            const verdict = file.check(each, 'x');
            expect({ allowed: verdict.allowed, line: lineOf(verdict) }).toEqual(naiveCheck(list, each));
          }
        },
      ),
      { numRuns: runs(40) },
    );
  });

  it('one rule with any repetition has the same verdict', () => {
    const repeated = fc.tuple(
      fc.constantFrom('a', 'ab', 'aba', '*a', 'a*b'),
      fc.integer({ min: 1, max: 40 }),
    );
    const text = fc
      .array(repeated, { maxLength: 4 })
      .map((parts) => parts.map(([part, times]) => part.repeat(times)).join(''));
    fc.assert(
      fc.property(
        text,
        text.map((path) => path.replaceAll('*', '')),
        fc.boolean(),
        (rule, path, anchored) => {
          const whole = `/*${rule}${anchored ? '$' : ''}`;
          const file = parseRobots(`User-agent: *\nDisallow: ${whole}\n`);
          expect(!file.check(`/${path}`, 'x').allowed).toBe(naiveMatch(whole, `/${path}`));
        },
      ),
      { numRuns: runs(1_000) },
    );
  });
});

describe('any octets', () => {
  const piece = fc.constantFrom(
    ...[
      'User-agent:',
      'user-agent *',
      'Disallow:',
      'Allow:',
      'disallow /a b',
      'Crawl-delay: 1e9',
      'Sitemap:',
      ' ',
      '\t',
    ],
    ...[
      '*',
      '$',
      '%',
      '%2',
      '%2F',
      '%2f',
      '%zz',
      '/',
      '?',
      '#',
      ':',
      ',',
      '\0',
      '\r',
      '\n',
      '\r\n',
      '\ufeff',
      'é',
      'foobot',
    ],
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
      { numRuns: runs(1_000) },
    );
  });
});

describe('the lines that are rules', () => {
  const key = fc.constantFrom(
    ...[
      'Allow',
      'DISALLOW',
      'dissallow',
      'dissalow',
      'disalow',
      'diasllow',
      'disallaw',
      'allo',
      'disallo',
      'alloww',
    ],
    ...[
      'user-agent',
      'useragent',
      'User Agent',
      'user--agent',
      'us',
      'usera',
      'u',
      'a',
      'al',
      'd',
      'di',
      'dixxl',
    ],
    ...['crawl-delay', 'cr', 'c', 'sitemap', '#', '', ' ', '\tallow', 'a\0ow'],
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
      { numRuns: runs(200) },
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
        const octets = new TextEncoder().encode(body);
        const memory = new Uint8Array(octets.length + shift);
        memory.set(octets, shift);
        const file = parseRobots(memory.subarray(shift));
        for (const index of groups.keys()) {
          expect(file.check(`/${index}/`, `bot${index}-`)).toMatchObject({ allowed: false, reason: 'rule' });
        }
        expect(file.groups).toHaveLength(groups.length);
      }),
      { numRuns: runs(300) },
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

  it('a line of 1 MB with NUL', () => {
    const long = 'a\0'.repeat(500_000);
    const file = parseRobots(`User-agent: *\nDisallow: /${long}\nDisallow: /b`);
    expect(file.check('/b', 'x')).toMatchObject({ allowed: false, rule: { line: 3 } });
    expect(file.check(`/${'a%00'.repeat(500_000)}`, 'x').allowed).toBe(false);
  });

  it('more rules than 16 bits can count', () => {
    const body = `User-agent: *\n${Array.from({ length: 70_000 }, (_, index) => `Disallow: /p${index}/\n`).join('')}`;
    const file = parseRobots(body);
    expect(file.check('/p69999/x', 'x')).toMatchObject({ rule: { line: 70_001 } });
    expect(file.check('/p70000/', 'x').allowed).toBe(true);
  });

  it.each([
    ['500 stars a rule', `/${'*a'.repeat(500)}*b$`, `/${'a'.repeat(8_000)}`],
    [
      'one long piece that nearly fits everywhere',
      `/*${'a'.repeat(4_000)}b`,
      `/${'a'.repeat(8_000)}b`.slice(0, 8_000),
    ],
    [
      'pieces that nearly fit everywhere',
      `/*${'aab'.repeat(300)}*c`,
      `/${'aab'.repeat(299)}${'aa'.repeat(3_000)}`,
    ],
  ])('496 KB of %s against a path of 8,000 octets take time linear in both', (_, rule, path) => {
    const line = `Disallow: ${rule}\n`;
    const count = Math.floor(496_000 / line.length);
    // Each rule differs, so that none can be dropped as a duplicate.
    const rules = Array.from(
      { length: count },
      (_item, index) => `Disallow: ${rule.slice(0, -3)}${rule.slice(-3)}${'*'.repeat(index % 7)}\n`,
    );
    const file = parseRobots(`User-agent: *\n${rules.join('')}`);
    file.check('/', 'x');
    // A quadratic matcher takes seconds here; the figure itself is the benchmark's business.
    expect(cpuMs(() => file.check(path, 'x'))).toBeLessThan(1_000);
  });
});
