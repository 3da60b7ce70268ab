import { describe, expect, it } from 'vitest';
import {
  parseRobots,
  requestRate,
  statedBy,
  type Usage,
  usage,
  type UsageOptions,
} from '../../../../src/core/rules/index.ts';
import { cpuMs } from '../../../support/cpu-time.ts';
import fc from '../../../support/fast-check.ts';

const lines = (...text: string[]): string => text.join('\n');

/** The three purposes, as letters: `a` allow, `d` disallow, `-` unknown; train-ai, search, ai-input. */
function stated(body: string, target = '/', agent = 'ExampleBot', options: UsageOptions = {}): string {
  const found = usage(parseRobots(body), target, agent, options);
  return (['train-ai', 'search', 'ai-input'] as const)
    .map((purpose) => (found[purpose] === 'unknown' ? '-' : found[purpose][0]))
    .join('');
}

const AIPREF = 'draft-ietf-aipref-attach-05, 18 August 2026; draft-ietf-aipref-vocab-08, 13 September 2026';
const RSL = 'RSL 1.0, 10 December 2025';

const sourceLines = ({ sources }: Usage): (number | undefined)[] => sources.map(({ line }) => line);

/** draft-ietf-aipref-attach-05, its figure. */
const FIGURE = lines(
  'User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: train-ai=n',
  'Content-Usage: /ai-ok/ train-ai=y\n\nUser-Agent: ExampleBot\nAllow: /',
  'Content-Usage: train-ai=y',
);

describe('Content-Usage lines (draft-ietf-aipref-attach-05)', () => {
  it.each([
    ['/test', 'OtherBot', 'd--'],
    ['/never/test', 'OtherBot', '---'],
    ['/ai-ok/test', 'OtherBot', 'a--'],
    ['/test', 'ExampleBot', 'a--'],
    ['/never/test', 'ExampleBot', 'a--'],
  ])('the figure: %s for %s', (target, agent, expected) => {
    expect(stated(FIGURE, target, agent)).toBe(expected);
    expect(stated(FIGURE, `https://example.com${target}#x`, agent)).toBe(expected);
  });

  it('the lines that state it are told, with their paths and what they say', () => {
    const file = parseRobots(FIGURE);
    expect(usage(file, '/ai-ok/test', 'OtherBot')).toEqual({
      'train-ai': 'allow',
      'ai-use': 'unknown',
      'ai-input': 'unknown',
      search: 'unknown',
      licenses: [],
      sources: [
        {
          directive: 'content-usage',
          specification: AIPREF,
          line: 5,
          path: '/ai-ok/',
          value: 'train-ai=y',
          preferences: { 'train-ai': 'allow' },
        },
      ],
    });
    expect(usage(file, '/test')).toMatchObject({ sources: [{ line: 4, value: 'train-ai=n' }] });
    expect(usage(file, '/never/test', 'OtherBot').sources).toEqual([]);
  });

  it('groups apply as for rules: merged, by name first, in order of preference', () => {
    const body = lines(
      'User-agent: a\nContent-Usage: train-ai=n\nDisallow: /x\nUser-agent: *',
      'Content-Usage: train-ai=y, search=y\nDisallow: /x\nUser-agent: A',
      'Content-Usage: search=n\nDisallow: /x',
    );
    expect(stated(body, '/', 'a')).toBe('dd-');
    expect(stated(body, '/', 'b')).toBe('aa-');
    expect(usage(parseRobots(body), '/', ['b', 'a']).search).toBe('disallow');
    expect(stated(lines('User-agent: a', 'Content-Usage: train-ai=n'), '/', 'b')).toBe('---');
    expect(stated(lines('Content-Usage: train-ai=n', 'User-agent: *', 'Allow: /'))).toBe('---');
  });

  const usages = (...values: string[]): string =>
    lines('User-agent: *', ...values.map((value) => `content-usage :${value}`), 'Allow: /');

  it('a path target ends before its fragment', () => {
    const body = usages('/a$ train-ai=n', '/b%23 train-ai=n');
    expect(stated(body, '/a#b')).toBe('d--');
    expect(stated(body, '/b#')).toBe('---');
  });

  it.each<[string, string[], string, string]>([
    [
      'the longest path that matches decides',
      ['/a train-ai=y', '/a/b train-ai=n', '/c train-ai=y'],
      '/a/b/c',
      'd--',
    ],
    ['… though a shorter one disallows', ['/a train-ai=n', '/a/b train-ai=y'], '/a/b/c', 'a--'],
    ['it replaces the shorter ones wholly', ['search=y', '/a train-ai=n'], '/a', 'd--'],
    ['paths end at SP or HTAB', ['/a\ttrain-ai=n', '/b \t train-ai=y'], '/a', 'd--'],
    ['identical paths: disallow wins', ['/a train-ai=y', '/%61 train-ai=n, search=y'], '/a', 'da-'],
    ['no paths: disallow wins', ['train-ai=n', 'train-ai=y'], '/', 'd--'],
    ['a comment ends the line', ['train-ai=n # search=n'], '/', 'd--'],
    ['what does not start with "/" is no path', ['*a train-ai=y'], '/a', '---'],
  ])('%s', (_, values, target, expected) => {
    expect(stated(usages(...values), target)).toBe(expected);
  });

  it('as many patterns, the same line as that of a rule', () => {
    const path = fc
      .array(fc.constantFrom('a', 'b', '/', '*', '%61', '%2f', '$', '?', 'é'), { maxLength: 6 })
      .map((parts) => `/${parts.join('')}`);
    const target = fc
      .array(fc.constantFrom('a', 'b', '/', '%2F', '$', '?', 'é'), { maxLength: 6 })
      .map((parts) => `/${parts.join('')}`);
    fc.assert(
      fc.property(
        fc.array(path, { minLength: 1, maxLength: 8 }),
        fc.array(target, { minLength: 5, maxLength: 10 }),
        fc.constantFrom('rfc9309' as const, 'google' as const),
        (paths, targets, dialect) => {
          const file = (line: (each: string) => string): ReturnType<typeof parseRobots> =>
            parseRobots(lines('User-agent: *', ...paths.map(line)), { dialect });
          const rules = file((each) => `Disallow: ${each}`);
          const preferences = file((each) => `Content-Usage: ${each} train-ai=n`);
          for (const each of targets) {
            const verdict = rules.check(each);
            const [first] = sourceLines(usage(preferences, each));
            expect(first).toBe(verdict.reason === 'rule' ? verdict.rule.line : undefined);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('they change no verdict', () => {
    const other = fc.constantFrom(
      ...'Content-Usage: train-ai=n|Content-Signal: search=no|License: x|Request-rate: 1/9'.split('|'),
    );
    const line = fc.constantFrom(
      ...'User-agent: a|User-agent: *|Disallow: /a|Allow: /a/b|Disallow:'.split('|'),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(line, fc.option(other)), { maxLength: 12 }), (parts) => {
        const plain = parseRobots(parts.map(([each]) => `${each}\n`).join(''));
        const full = parseRobots(parts.map(([each, more]) => `${each}\n${more ?? ''}\n`).join(''));
        for (const agent of ['a', 'b']) {
          for (const target of ['/', '/a', '/a/b']) {
            usage(full, target, agent);
            const [one, two] = [plain.check(target, agent), full.check(target, agent)];
            expect([two.allowed, two.reason]).toEqual([one.allowed, one.reason]);
          }
        }
      }),
    );
  });
});

describe('statements (draft-ietf-aipref-vocab-08 §6)', () => {
  it.each([
    ['train-ai=y, search=n', 'ad-'],
    ['train-ai=y, train-ai, search=y, search="y"', '---'],
    ['train-ai;allow=n, train-ai=y', 'a--'],
    ['train-ai=n;exceptions=y', 'd--'],
    ['train-ai=y,', '---'],
    ['ai=n, bots=n, train-genai=n, ai-input=n', '---'],
    // What can be read of a "no" counts.
    ['train-ai=y, train-ai, search=n, search="n"', '-d-'],
    ['train-ai=Y, search=N', '-d-'],
    ['ai-train=n', 'd--'],
    ['train-ai =n', 'd--'],
    ['train-ai=no', 'd--'],
  ])('%s', (text, expected) => {
    expect(stated(`User-agent: *\nContent-Usage: ${text}`)).toBe(expected);
    expect(stated('', '/', 'ExampleBot', { headers: { 'content-usage': text } })).toBe(expected);
  });

  it('labels of other vocabularies are kept, what cannot be read is marked', () => {
    const { sources } = usage(parseRobots(''), '/', '*', { headers: { 'content-usage': 'ai=n, x="y"' } });
    expect(sources).toEqual([
      {
        directive: 'content-usage',
        specification: AIPREF,
        value: 'ai=n, x="y"',
        preferences: { ai: 'disallow', x: 'unknown' },
        malformed: true,
      },
    ]);
    expect(
      usage(parseRobots(''), '/', '*', { headers: { 'content-usage': 'constructor=y' } }).sources[0]
        ?.preferences,
    ).toEqual({ constructor: 'allow' });
    expect(usage(parseRobots('User-agent: *\nContent-Usage: A=n'), '/').sources).toEqual([
      {
        directive: 'content-usage',
        specification: AIPREF,
        line: 2,
        value: 'A=n',
        preferences: {},
        malformed: true,
      },
    ]);
  });
});

describe('the Content-Usage header', () => {
  const body = lines(
    'User-agent: *\nDisallow: /never\nContent-Usage: train-ai=n',
    'Content-Usage: /ok train-ai=y',
  );
  const withHeader = (contentUsage: string, target: string): string =>
    stated(body, target, 'ExampleBot', { headers: { 'content-usage': contentUsage } });

  it('and the file: one that disallows wins, one that says nothing is no matter', () => {
    expect(withHeader('train-ai=y', '/')).toBe('d--');
    expect(withHeader('train-ai=n', '/ok')).toBe('d--');
    expect(withHeader('search=y', '/ok')).toBe('aa-');
    expect(withHeader('not a dictionary', '/ok')).toBe('a--');
    expect(stated(body, '/ok', 'ExampleBot', { headers: {} })).toBe('a--');
  });

  it('counts where the file disallows, though its lines do not', () => {
    expect(withHeader('search=n', '/never')).toBe('-d-');
  });
});

describe('Content-Signal', () => {
  const signals = (...values: string[]): string =>
    lines('User-Agent: *', ...values.map((value) => `Content-signal: ${value}`), 'Allow: /');

  it.each<[string, string[], string, string]>([
    ['what Cloudflare writes', ['search=yes,ai-train=no,use=reference'], '/', 'da-'],
    ['other values state nothing', ['search=maybe, ai-train=no'], '/', 'd--'],
    ['a key twice: the stricter', ['search=no, search=yes'], '/', '-d-'],
    ['case and white space are no matter', ['Search = YES ,\tAI-Train=No'], '/', 'da-'],
    ['a refusal counts however it is spelt', ['ai_train: no'], '/', 'd--'],
    ['the longest path', ['/blog/ ai-train=no, search=yes', 'ai-train=yes'], '/blog/x', 'da-'],
    ["of AIPREF's label a refusal counts", ['search=yes, train-ai=no'], '/', 'da-'],
    ['… and no consent', ['train-ai=yes'], '/', '---'],
    ['a refusal counts whatever separates it', ['ai-train=no; search=yes'], '/', 'd--'],
    ['what is no signal is passed over', ['hello, search=no, =, x='], '/', '-d-'],
  ])('%s', (_, values, target, expected) => {
    expect(stated(signals(...values), target)).toBe(expected);
  });

  it('`use` is the least permissive level of those stated', () => {
    const use = (...values: string[]): string | undefined => usage(parseRobots(signals(...values)), '/').use;
    expect(use('use=reference')).toBe('reference');
    expect(use('use=full, use=immediate')).toBe('immediate');
    expect(use('use=full', 'use=reference')).toBe('reference');
    expect(use('use=whatever')).toBeUndefined();
    expect(
      usage(parseRobots(signals('use=full')), '/', '*', { headers: { 'content-signal': 'use=immediate' } })
        .use,
    ).toBe('immediate');
  });

  it.each<[string, string[], string]>([
    ['immediate: not retained, so neither training nor an index', ['use=immediate'], 'dd-'],
    ['reference: indexed or cited, but not trained on', ['use=reference'], 'd--'],
    [
      'a level below what is allowed disallows',
      ['ai-train=yes, search=yes, ai-input=yes, use=immediate'],
      'dda',
    ],
    ['the least permissive level of several lines', ['ai-train=yes, use=full', 'use=reference'], 'd--'],
  ])('the level of `use` decides about purposes: %s', (_, values, expected) => {
    expect(stated(signals(...values))).toBe(expected);
  });

  it('the source of a purpose is the line whose level forbids it', () => {
    const found = usage(parseRobots(signals('ai-train=yes', 'search=yes, use=reference')), '/');
    expect(statedBy(found, 'train-ai')).toMatchObject({ line: 3, use: 'reference' });
    expect(statedBy(found, 'search')).toMatchObject({ line: 3 });
  });

  describe('apart from all groups', () => {
    const first = lines('Content-Signal: ai-train=no', '', 'User-agent: a', 'Content-Signal: ai-train=yes');

    it('in front of the first group is for all agents, beside what their group says', () => {
      expect(stated(first, '/', 'a')).toBe('d--');
      expect(stated(first, '/', 'b')).toBe('d--');
      expect(usage(parseRobots(first), '/', 'a').sources).toMatchObject([
        { line: 4 },
        { line: 1, scope: 'origin', specification: 'Cloudflare Content Signals Policy, 30 June 2026' },
      ]);
      expect(usage(parseRobots(first), '/', 'a').sources[0]).not.toHaveProperty('scope');
    });

    it.each<[string, string[]]>([
      ['at the end', ['User-agent: a', 'Disallow: /x', '', '# For all', 'Content-Signal: ai-train=no']],
      [
        'with a sitemap',
        ['User-agent: a', 'Allow: /', '', 'Sitemap: https://a/', 'Content-Signal: ai-train=no'],
      ],
    ])('in a paragraph of its own %s, too', (_, body) => {
      for (const agent of ['a', 'b', 'c']) expect(stated(lines(...body), '/', agent), agent).toBe('d--');
      const { sources, omitted } = usage(parseRobots(lines(...body)), '/', 'a');
      expect([sources.length, sources[0]?.scope, omitted]).toEqual([1, 'origin', undefined]);
    });

    it.each<[string, string[]]>([
      ['after its agent', ['User-agent: a', 'Content-Signal: ai-train=no', 'Allow: /']],
      ['after its rules', ['User-agent: a', 'Allow: /', 'Content-Signal: ai-train=no']],
    ])('is not a line in the paragraph of a group: %s', (_, body) => {
      expect(stated(lines(...body), '/', 'a')).toBe('d--');
      expect(stated(lines(...body), '/', 'b')).toBe('---');
      expect(usage(parseRobots(lines(...body)), '/', 'a').sources[0]).not.toHaveProperty('scope');
    });

    it('the longest of its paths decides apart from those of a group', () => {
      const body = 'Content-Signal: /a ai-train=no\nContent-Signal: search=no\nUser-agent: *\nAllow: /';
      expect(stated(body, '/a/b')).toBe('d--');
      expect(stated(body, '/c')).toBe('-d-');
    });

    it('Content-Usage counts in groups alone: "each group contains zero or more Content-Usage rules"', () => {
      expect(stated('Content-Usage: train-ai=n\n\nUser-agent: *\nAllow: /')).toBe('---');
    });
  });

  it('the header, and the spelling in the plural', () => {
    expect(
      stated('', '/', 'x', { headers: { 'content-signal': 'ai-train=yes, search=yes, ai-input=yes' } }),
    ).toBe('aaa');
    expect(stated('User-agent: *\nContent-Signals: search=no')).toBe('-d-');
  });

  it('with Content-Usage: one that disallows wins', () => {
    const body = lines(
      'User-agent: *\nContent-Usage: train-ai=y, search=n',
      'Content-Signal: ai-train=no, search=yes',
    );
    expect(stated(body)).toBe('dd-');
    expect(sourceLines(usage(parseRobots(body), '/'))).toEqual([2, 3]);
  });

  it('belongs to its group, and holds where the file disallows', () => {
    const body = 'User-agent: a\nContent-Signal: search=no\nDisallow: /\nUser-agent: *\nAllow: /';
    expect(stated(body, '/', 'a')).toBe('-d-');
    expect(stated(body, '/', 'b')).toBe('---');
  });

  it('that cannot be read is marked', () => {
    expect(usage(parseRobots(signals('hello')), '/').sources[0]).toMatchObject({
      malformed: true,
      preferences: {},
    });
    expect(usage(parseRobots(signals('/a')), '/a').sources[0]).not.toHaveProperty('malformed');
  });
});

describe('License (RSL 1.0 §4.4)', () => {
  const body = lines(
    'License: https://example.com/license.xml\nLicense: /relative.xml\nUser-agent: a',
    'Allow: /\nLicense: https://rights.example/a.xml\nLicense: https://rights.example/b.xml',
    'User-agent: b\nAllow: /\nLicense: none\nUser-agent: *\nDisallow: /',
  );
  const file = parseRobots(body);

  it('a group with licences has those alone, another those in front of all groups', () => {
    expect(usage(file, '/', 'a').licenses).toEqual([
      'https://rights.example/a.xml',
      'https://rights.example/b.xml',
    ]);
    expect(usage(file, '/', 'c').licenses).toEqual(['https://example.com/license.xml']);
    expect(usage(file, '/', 'b').licenses).toEqual([]);
  });

  it('the lines are told, those that are no absolute URL as such', () => {
    expect(usage(file, '/', 'c').sources).toEqual([
      {
        directive: 'license',
        specification: RSL,
        line: 1,
        value: 'https://example.com/license.xml',
        preferences: {},
      },
      {
        directive: 'license',
        specification: RSL,
        line: 2,
        value: '/relative.xml',
        preferences: {},
        malformed: true,
      },
    ]);
    expect(sourceLines(usage(file, '/', 'b'))).toEqual([9]);
  });
});

describe('ai-use (draft-ietf-aipref-vocab-08 §4.2)', () => {
  const both = (text: string): string => {
    const found = usage(parseRobots(`User-agent: *\n${text}`), '/');
    return `${found['ai-use']} ${found['ai-input']} ${found.search}`;
  };

  it('is a label of Content-Usage alone, and is kept apart from `ai-input`', () => {
    expect(both('Content-Usage: ai-use=n')).toBe('disallow unknown unknown');
    expect(both('Content-Signal: ai-input=no')).toBe('unknown disallow unknown');
    expect(both('Content-Signal: ai-use=no')).toBe('unknown unknown unknown');
    expect(both('Content-Usage: ai-input=n')).toBe('unknown unknown unknown');
    expect(both('Content-Usage: ai-use=y\nContent-Signal: ai-input=no')).toBe('allow disallow unknown');
  });

  it('does not change `search`, which overrides it for uses that qualify (§4.3)', () => {
    expect(both('Content-Usage: train-ai=n, ai-use=n, search=y')).toBe('disallow unknown allow');
  });
});

describe('the Link header (RFC 8288, RSL 1.0)', () => {
  const licensed = (link: string, target = 'https://example.com/a/b', text = ''): readonly string[] =>
    usage(parseRobots(text), target, 'x', { headers: { link } }).licenses;
  const FILE = 'User-agent: *\nLicense: https://example.com/site.xml';

  it.each<[string, string[]]>([
    ['<https://example.com/l.xml>; rel="license"', ['https://example.com/l.xml']],
    ['<https://example.com/l.xml>;rel=License', ['https://example.com/l.xml']],
    ['<l.xml>; title="a, b; <c>"; rel=license', ['https://example.com/a/l.xml']],
    ['<https://a/x>; rel=next, <https://a/y>; rel=license', ['https://a/y']],
    ['<https://a/x>; rel=next; rel=license', []],
    ['junk, <https://a/y>; rel=license', ['https://a/y']],
    ['<https://a/x; rel=license', []],
    ['<https://a/x>; ;; = x; rel = license , <<https://a/y>; rel=license', ['https://a/x']],
    ['', []],
  ])('%s', (link, expected) => {
    expect(licensed(link)).toEqual(expected);
  });

  it('of the type of RSL replaces the licences of the file, another comes besides', () => {
    const typed = '<https://a/x>; rel="license"; type="application/rsl+xml"';
    expect(licensed(typed, '/a', FILE)).toEqual(['https://a/x']);
    expect(licensed('<https://a/x>; rel=license', '/a', FILE)).toEqual([
      'https://a/x',
      'https://example.com/site.xml',
    ]);
    expect(licensed(typed.replace('https://a', ''), '/a', FILE)).toEqual(['https://example.com/site.xml']);
  });

  it('is told as a source; one that cannot be resolved as such', () => {
    const { sources } = usage(parseRobots(''), '/a', 'x', { headers: { link: '</x>; rel=license' } });
    expect(sources).toEqual([
      { directive: 'link', specification: `RFC 8288; ${RSL}`, value: '/x', preferences: {}, malformed: true },
    ]);
  });
});

describe('what is asked', () => {
  it('a target that is no URL throws', () => {
    const file = parseRobots(FIGURE);
    expect(() => usage(file, 'example.com/')).toThrow(
      expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_URL' }),
    );
  });

  it('agents in turn get answers of their own', () => {
    const file = parseRobots(FIGURE);
    const asked = ['ExampleBot', 'OtherBot', 'ExampleBot/1.0', 'OtherBot', 'ExampleBot'];
    const told = asked.map((agent) => usage(file, '/test', agent)['train-ai']).join(' ');
    expect(told).toBe('allow disallow allow disallow allow');
  });

  it('all lines of a path count, and so do those of a path as long, in file order', () => {
    const lines = Array.from({ length: 300 }, (_, index) =>
      index === 250 ? '/*b train-ai=n' : index % 2 === 0 ? '/a* train-ai=y' : '/*b train-ai=y, search=y',
    );
    const file = parseRobots(`User-agent: *\n${lines.map((each) => `Content-Usage: ${each}\n`).join('')}`);
    const both = usage(file, '/ab');
    expect(both).toMatchObject({ 'train-ai': 'disallow', search: 'allow', omitted: 200 });
    expect(both.sources.map(({ line }) => line)).toEqual(Array.from({ length: 100 }, (_, at) => at + 2));
    expect(usage(file, '/ac')).toMatchObject({ 'train-ai': 'allow', search: 'unknown', omitted: 49 });
  });

  it('40,000 lines with paths are compiled once, and take linear time', () => {
    const paths = Array.from({ length: 40_000 }, (_, index) => `Content-Usage: /${index}/ train-ai=n\n`).join(
      '',
    );
    const file = parseRobots(`User-agent: *\n${paths}`);
    const took = cpuMs(() => {
      for (let index = 0; index < 10; index++) {
        expect(usage(file, `/${index * 100}/x`).sources).toMatchObject([{ line: index * 100 + 2 }]);
      }
    });
    expect(took).toBeLessThan(5_000);
  });
});

describe('Request-rate', () => {
  const rate = (value: string, atMs?: number): number | undefined =>
    requestRate(
      parseRobots(`User-agent: *\nRequest-rate: ${value}`),
      'x',
      atMs === undefined ? {} : { atMs },
    );

  it.each<[string, number | undefined]>([
    ['1/10', 10_000],
    ['10/10m', 60_000],
    ['20/1H', 180_000],
    ['1 / 5 s', 5_000],
    ['1/10s 1800-1900', 10_000],
    ['1/999999999h', 31_536_000_000],
    ['0/10', undefined],
    ['1/0', 0],
    ['1/10d', undefined],
    ['', undefined],
  ])('%s', (value, expected) => {
    expect(rate(value)).toBe(expected);
  });

  it.each<[hours: string, within: readonly string[], outside: readonly string[]]>([
    ['0830-0845', ['08:30', '08:45'], ['08:29', '08:46', '09:40', '20:30']],
    ['2215-0130', ['22:15', '23:59', '00:00', '01:30'], ['22:14', '01:31', '12:20']],
    ['1200-1200', ['12:00'], ['11:59', '12:01']],
  ])('of the hours %s counts from the first minute to the last', (hours, within, outside) => {
    const counts = (time: string): boolean =>
      rate(`1/10s ${hours}`, Date.parse(`2026-11-21T${time}:30Z`)) === 10_000;
    expect([within.filter(counts), outside.filter(counts)]).toEqual([within, []]);
  });

  it('is the longest, wherever it stands, and one that is none changes nothing', () => {
    const of = (...values: string[]): number | undefined =>
      requestRate(parseRobots(lines('User-agent: *', ...values.map((value) => `Request-rate: ${value}`))));
    expect(of('1/9', '1/5')).toBe(9_000);
    expect(of('1/5', 'x', '1/9', '1/0')).toBe(9_000);
    expect(of('0/0')).toBeUndefined();
  });
});
