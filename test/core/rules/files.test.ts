import { describe, expect, it } from 'vitest';
import { type Dialect, parseRobots, productToken, usage } from '../../../src/core/rules/index.ts';
import * as rules from '../../../src/core/rules/index.ts';

const lines = (...text: string[]): string => text.join('\n');

/** Which of the agents may not fetch `/x`. */
function caught(
  body: string | Uint8Array,
  agents: readonly string[],
  dialect: Dialect = 'rfc9309',
): string[] {
  const file = parseRobots(body, { dialect });
  return agents.filter((agent) => !file.check('/x', agent).allowed);
}

describe('agents', () => {
  it('lines: cut at the first other character, several by commas', () => {
    const body = lines('User-agent: FooBot/2.1, MJ12bot ,* all', 'Disallow: /');
    const agents = ['foobot', 'MJ12BOT', 'other', 'foo'];
    expect(caught(body, agents)).toEqual(agents);
    expect(
      caught(lines('User-agent: FooBot/2.1, MJ12bot', 'Disallow: /'), ['foobot', 'MJ12BOT', 'MJ', 'Foo']),
    ).toEqual(['foobot', 'MJ12BOT']);
    expect(caught(lines('User-agent: FooBot*', 'Disallow: /'), ['foobot', 'foobot-news'])).toEqual([
      'foobot',
    ]);
  });

  it('google: letters, `_` and `-` in lines, the caller as given', () => {
    const body = lines('User-agent: FooBot/2.1', 'User-agent: MJ12bot', 'Disallow: /');
    expect(caught(body, ['foobot', 'FooBot/2.1', 'MJ12bot', 'MJ'], 'google')).toEqual(['foobot', 'MJ']);
  });

  it.each([
    ['ExampleBot/1.0 (+https://example.com/bot)', 'ExampleBot'],
    [
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://x.example)',
      'GPTBot',
    ],
    ['Opera/9.80 (J2ME/MIDP; Opera Mini/9.80; U; en) Presto/2.12', 'Opera'],
    ['Mozilla/5.0 (compatible; jävla-bot/1.0)', 'Mozilla'],
    ['MOZILLA/5.0 (COMPATIBLE; GOODBOT/2.1; +HTTP://X.EXAMPLE)', 'GOODBOT'],
    ['jävla-fanbot', undefined],
    ['ja\u0308vla-fanbot', undefined],
    ['ExampleBot “quoted”', 'ExampleBot'],
    ['', undefined],
    ['*', undefined],
  ])('productToken(%j) is %j', (agent, token) => {
    expect(productToken(agent)).toBe(token);
  });

  it('a caller whose name is not a token has the rules of `*`', () => {
    const body = lines('User-agent: j', 'Disallow: /', 'User-agent: *', 'Disallow: /x');
    for (const dialect of ['rfc9309', 'koster-1996', 'robotstxt-1994'] as const) {
      const file = parseRobots(body, { dialect });
      expect(file.check('/', 'jävla-fanbot').allowed).toBe(true);
      expect(file.check('/x', 'jävla-fanbot').allowed).toBe(false);
    }
  });
});

describe('lines', () => {
  it.each(['disallow', 'DisAllow', ' Disallow ', 'dissallow', 'dissalow', 'disalow', 'diasllow', 'disallaw'])(
    'key %j',
    (key) => {
      for (const dialect of ['rfc9309', 'google'] as const)
        expect(caught(`user agent: *\n${key}:/x`, ['a'], dialect)).toEqual(['a']);
      const old = caught(`User-agent: *\n${key}:/x`, ['a'], 'koster-1996');
      expect(old).toEqual(key.trim().toLowerCase() === 'disallow' ? ['a'] : []);
    },
  );

  it('google cuts lines at 16,663 bytes and uses the start; rfc9309 uses whole lines', () => {
    const long = `/${'a'.repeat(20_000)}`;
    const cut = long.slice(0, 16_663 - 'Disallow: '.length);
    expect(
      parseRobots(`User-agent: *\nDisallow: ${long}`, { dialect: 'google' }).check(`${cut}b`, 'x').allowed,
    ).toBe(false);
    expect(parseRobots(`User-agent: *\nDisallow: ${long}`).check(`${cut}b`, 'x').allowed).toBe(true);
    expect(parseRobots(`User-agent: *\nDisallow: ${long}`).check(long, 'x').allowed).toBe(false);
  });

  it.each([...[...Array(0x20).keys()].filter((byte) => ![0x09, 0x0a, 0x0d].includes(byte))])(
    'control byte %d ends the value of a line (rfc9309: UTF8-char-noctl)',
    (byte) => {
      const end = String.fromCharCode(byte);
      expect(caught(`User-agent: *\nDisallow: /x${end}y`, ['a'])).toEqual(['a']);
      expect(caught(`User-agent: *\nDisallow: /x${end.repeat(9)}`, ['a'])).toEqual(['a']);
      expect(caught(`User-agent: a${end},b\nDisallow: /x`, ['a', 'b'])).toEqual(['a']);
      expect(parseRobots(`User-agent: *\nDisallow: /x${end}y # z`).groups[0]?.rules).toEqual([
        { directive: 'disallow', pattern: '/x', line: 2 },
      ]);
      expect(parseRobots(`Sitemap: /s${end}t`).sitemaps).toEqual([{ url: '/s', line: 1 }]);
      // In front of a value VT and FF are white space.
      const isSpace = byte === 0x0b || byte === 0x0c;
      expect(caught(`User-agent: *\nDisallow:${end}/x`, ['a'])).toEqual(isSpace ? ['a'] : []);
      expect(caught(`User-agent: *\nDisallow /x${isSpace ? '' : end}`, ['a'])).toEqual(['a']);
      expect(caught(`User-agent: *\nDisa${end}llow: /x`, ['a'])).toEqual([]);
    },
  );

  it.each([...[...Array(0x20).keys()].filter((byte) => ![0x09, 0x0a, 0x0d].includes(byte))])(
    'control byte %d makes an Allow void, which would allow more without the rest of its path',
    (byte) => {
      const control = String.fromCharCode(byte);
      const caughtBy = (allow: string): string[] => caught(`User-agent: *\nDisallow: /\n${allow}`, ['a']);
      // Without a colon VT and FF separate words, so that the line is none of two words.
      const isSpace = byte === 0x0b || byte === 0x0c;
      const cut = [`Allow: /${control}x`, `Allow: /x${control}y # z`, isSpace ? [] : `Allow /x${control}y`];
      for (const allow of cut.flat()) {
        expect(caughtBy(allow), allow).toEqual(['a']);
        // It is a rule all the same: the next user-agent line starts a group.
        const groups = `User-agent: a\n${allow}\nUser-agent: b\nDisallow: /`;
        expect(caught(groups, ['a', 'b']), allow).toEqual(['b']);
        expect(parseRobots(groups).groups.map(({ rules }) => rules.length)).toEqual([0, 1]);
      }
      // VT and FF around a value are white space; a comment may hold anything.
      for (const allow of [`Allow:${control}/x`, `Allow: /x \t${control}`]) {
        expect(caughtBy(allow), allow).toEqual(isSpace ? [] : ['a']);
      }
      expect(caughtBy(`Allow: /x # ${control}`)).toEqual([]);
    },
  );
});

describe('byte order marks', () => {
  const bytes = (...parts: (number | string)[]): Uint8Array =>
    Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...Buffer.from(part)])));
  const body = 'User-agent: *\nDisallow: /x';

  it('that of UTF-8 is skipped once; a part of it by google alone', () => {
    expect(caught(bytes(0xef, 0xbb, 0xbf, body), ['a'])).toEqual(['a']);
    expect(caught(bytes(0xef, 0xbb, body), ['a'])).toEqual([]);
    expect(caught(bytes(0xef, 0xbb, body), ['a'], 'google')).toEqual(['a']);
    expect(caught(bytes(0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, body), ['a'])).toEqual([]);
  });

  it('a body with that of UTF-16 is transcoded before its lines are numbered, except by google', () => {
    const little = bytes(0xff, 0xfe, ...Buffer.from(body, 'utf16le'));
    const big = bytes(0xfe, 0xff, ...Buffer.from(body, 'utf16le').swap16());
    for (const file of [little, big]) {
      expect(parseRobots(file).check('/x', 'a')).toMatchObject({ allowed: false, rule: { line: 2 } });
      expect(caught(file, ['a'], 'google')).toEqual([]);
    }
  });

  it('that of UTF-16 is both bytes, in either order, at the start', () => {
    for (const [first, second] of [
      [0xff, 0x0a],
      [0xfe, 0x0a],
      [0x0a, 0xfe],
      [0x0a, 0xff],
      [0xff, 0xff],
      [0xfe, 0xfe],
    ] as const) {
      // Whatever the first line is, later lines are read as bytes.
      expect(caught(bytes(first, second, '\n', body), ['a']), `${first} ${second}`).toEqual(['a']);
    }
    expect(caught(bytes('\n', 0xff, 0xfe, '\n', body), ['a'])).toEqual(['a']);
  });
});

describe('records that change no verdict', () => {
  const file = parseRobots(
    lines(
      'Sitemap: https://example.com/1.xml\nUser-agent: a\nCrawl-delay: 1.5\nDisallow:',
      'User-agent: *\nCrawl-delay: 10\ncrawl-delay: x\nsite-map: /2.xml',
    ),
  );

  it('crawl-delay, in milliseconds, of the agent’s own groups', () => {
    expect(file.crawlDelay('a')).toBe(1500);
    expect(file.crawlDelay('b')).toBe(10_000);
    expect(parseRobots('User-agent: a\nCrawl-delay: 1\nDisallow: /').crawlDelay('b')).toBeUndefined();
  });

  it.each([
    ['0.5', 500],
    ['.25', 250],
    ['5.', 5_000],
    [`1.${'0'.repeat(400)}1`, 1_000],
    ['9'.repeat(21), 31_536_000_000],
    ['1'.repeat(40), 31_536_000_000],
    [`${'1'.repeat(500)}.${'5'.repeat(500)}`, 31_536_000_000],
    ['.', undefined],
    [`${'1'.repeat(40)}s`, undefined],
    ['1.2.3', undefined],
  ])('a Crawl-delay of %s s in ms: at most a year', (seconds, delayMs) => {
    expect(parseRobots(`User-agent: *\nCrawl-delay: ${seconds}`).crawlDelay('a')).toBe(delayMs);
  });

  it('sitemaps, with lines', () => {
    expect(file.sitemaps).toEqual([
      { url: 'https://example.com/1.xml', line: 1 },
      { url: '/2.xml', line: 8 },
    ]);
  });
});

describe('bad input', () => {
  it('throws an error that names the input', () => {
    const parse: unknown = parseRobots;
    if (typeof parse !== 'function') throw new TypeError('no function');
    expect(() => parse(null)).toThrow(/Expected a string or a Uint8Array, got null/);
    expect(() => parse('', { dialect: 'x' })).toThrow(
      /Expected `dialect` to be one of rfc9309, google, koster-1996, robotstxt-1994, got "x"/,
    );
  });
});

describe('every export, called with every wrong type', () => {
  const file = parseRobots('User-agent: *\nDisallow: /x\nRequest-rate: 1/5\nContent-Usage: train-ai=n');
  const right: Readonly<Record<string, readonly unknown[]>> = {
    parseRobots: ['', {}],
    productToken: ['ExampleBot'],
    lint: [file, {}],
    usage: [file, '/', 'ExampleBot', {}],
    requestRate: [file, 'ExampleBot', {}],
    explain: [file, '/', 'ExampleBot'],
    pageDirectives: [{}],
    statedBy: [usage(file, '/'), 'train-ai'],
  };
  const wrong: readonly unknown[] = [
    ...[
      undefined,
      null,
      5,
      Number.NaN,
      true,
      Symbol('s'),
      10n,
      () => 1,
      'x',
      '',
      {},
      [],
      [5],
      [null],
      new Map(),
    ],
    ...[
      Object.create(null),
      { length: 1 },
      { dialect: 5 },
      { maxBodyBytes: 'x' },
      { atMs: 'x' },
      { agent: null },
    ],
    ...[{ headers: 5 }, { headers: [5] }, { meta: 5 }, { meta: [null, 5] }, { agent: 5 }, { agent: [5] }],
  ];
  const calls = Object.entries({ ...rules })
    .filter(([, value]) => typeof value === 'function')
    .flatMap(([name, call]) => (right[name] ?? [undefined]).map((_, at) => [name, at, call] as const));

  it.each(calls)('%s, argument %i: answers, or says what was expected', (name, at, call: unknown) => {
    let refused = 0;
    for (const value of wrong) {
      try {
        Reflect.apply(
          call as () => unknown,
          undefined,
          (right[name] ?? []).map((each, index) => (index === at ? value : each)),
        );
      } catch (error) {
        refused++;
        expect(error, `${name} of ${typeof value}`).toMatchObject({
          code: expect.stringMatching(/^ERR_ROBOTS_INVALID_(?:OPTIONS|URL)$/),
          message: expect.stringMatching(/^Expected .+, got /),
        });
      }
    }
    expect(refused).toBeGreaterThan(5);
  });
});

it('looks for the agents of a list once, however often it is asked for the same list', () => {
  const file = parseRobots('User-agent: Other\nDisallow: /\n');
  const list = Array.from({ length: 100 }, (_, index) => `Bot${index}`);
  expect(file.check('/x', list)).toMatchObject({ reason: 'no-group' });
  expect(file.check('/x', [...list])).toMatchObject({ reason: 'no-group' });
  const compiled = file.changes;
  expect(file.check('/y', [...list])).toMatchObject({ reason: 'no-group' });
  expect(file.changes).toBeLessThanOrEqual(compiled + 1);
  expect(file.check('/y', [...list, 'Other'])).toMatchObject({ allowed: false });
});
