import { describe, expect, it } from 'vitest';
import { describeDiagnostic } from '../../../../src/index.ts';
import { agentLineNames, callerAgent, NAMES_AGENT, NAMES_ALL } from '../../../../src/core/rules/agent.ts';
import { agentNames } from '../../../../src/core/rules/describe.ts';
import { dialects } from '../../../../src/core/rules/dialect.ts';
import { WHOLE_FILE } from '../../../../src/core/rules/lint/diagnostic.ts';
import {
  type Diagnostic,
  type DiagnosticCode,
  type Dialect,
  lint,
  parseRobots,
} from '../../../../src/core/rules/index.ts';
import { cpuMs } from '../../../support/cpu-time.ts';
import fc from '../../../support/fast-check.ts';
import { runs } from '../../../support/thorough.ts';

const lines = (...text: string[]): string => text.join('\n');
const ALL_DIALECTS: readonly Dialect[] = ['rfc9309', 'google', 'koster-1996', 'robotstxt-1994'];

function diagnosed(
  body: string | Uint8Array,
  code: DiagnosticCode,
  dialect: Dialect = 'rfc9309',
): readonly Diagnostic[] {
  return lint(parseRobots(body, { dialect })).filter((diagnostic) => diagnostic.code === code);
}

const linesOf = (diagnostics: readonly Diagnostic[]): number[] => diagnostics.map(({ line }) => line);

function utf16(text: string): Uint8Array {
  return Uint8Array.from([0xff, 0xfe, ...Buffer.from(text, 'utf16le')]);
}

interface Example {
  readonly body: string | Uint8Array;
  readonly dialect?: Dialect;
  readonly maxBodyBytes?: number;
  /** All that is reported of the code; `code` left out. */
  readonly reported: readonly Reported[];
}

type Reported = Omit<Diagnostic, 'code'>;
const reporting =
  (severity: Diagnostic['severity']) =>
  (line: number, column: number, text: string, more: Partial<Reported> = {}): Reported =>
    Object.assign({ severity, line, column, text }, more);
const [info, warning, error] = [reporting('info'), reporting('warning'), reporting('error')];

const disallow = (path: string): string => `User-agent: *\nDisallow: ${path}`;

const WITH_HOST = ['/www.example.org/a', '/example.com/x', '/a.example.net', '//example.org/a'];

/** For every code a file that it is reported of. */
const examples: Readonly<Record<DiagnosticCode, Example>> = {
  'nothing-in-effect': {
    body: lines('# A file', 'Disallow: /a', 'hello world'),
    reported: [error(2, 1, 'Disallow: /a')],
  },
  'site-closed': {
    body: 'User-agent: *\nDisallow: /\nUser-agent: GPTBot\nDisallow: /\nUser-agent: Bing\nDisallow:',
    reported: [info(2, 11, '/', { otherLine: 2, agents: ['Bing'] })],
  },
  'group-runs-on': {
    body: lines('User-agent: *', 'Crawl-delay: 10', 'User-agent: amazonbot', 'Disallow: /'),
    reported: [warning(4, 11, '/', { kind: 'Crawl-delay', otherLine: 2, agents: ['*', 'amazonbot'] })],
  },
  'invisible-character': {
    body: lines(
      'User-agent: *\nDisallow: /a\u00a0\n\ufeffUser-agent: b\nDisallow: /\u200b\n# \u00a0',
      'Disallow: /c # \u00a0',
    ),
    reported: [
      warning(2, 13, '\u00a0', { kind: 'path' }),
      error(3, 1, '\ufeff', { meant: 'user-agent' }),
      warning(4, 12, '\u200b', { kind: 'path' }),
    ],
  },
  'unreadable-preference': {
    body: lines(
      'User-agent: *\nContent-Signal: ai-train=no; search=yes',
      'Content-Signal: search=yes, ai-train=no, use=full\nContent-Usage: /a train-ai=no',
      'Content-Usage: train-ai=n, search=y\nContent-Usage: ai=n\nLicense: example.com/licence',
      'License: https://example.com/licence\nDisallow: /a\nContent-Usage: foo=bar, train-ai=n',
      'Content-Signal: search=yes, ai-train\nContent-Signal: search=yes, ',
      'Content-Signal: use=reference, search\nContent-Signal: search=no, use=none',
    ),
    reported: [
      warning(2, 17, 'ai-train=no; search=yes', { kind: 'content-signal', meant: 'ai-train=no, search=yes' }),
      warning(4, 19, 'train-ai=no', { kind: 'content-usage', meant: 'train-ai=n' }),
      warning(6, 16, 'ai=n', { kind: 'content-usage', meant: '' }),
      warning(7, 10, 'example.com/licence', { kind: 'license' }),
      warning(10, 16, 'foo=bar, train-ai=n', { kind: 'content-usage', meant: 'train-ai=n' }),
      warning(11, 17, 'search=yes, ai-train', { kind: 'content-signal', meant: 'search=yes' }),
      warning(13, 17, 'use=reference, search', { kind: 'content-signal', meant: 'use=reference' }),
      warning(14, 17, 'search=no, use=none', { kind: 'content-signal', meant: 'search=no' }),
    ],
  },
  'not-inherited': {
    body: lines(
      'User-agent: *\nDisallow: /admin\nDisallow: /tmp\nUser-agent: GPTBot\nAllow: /',
      'User-agent: Googlebot\nDisallow: /admin\nDisallow: /t\nUser-agent: b\nDisallow: /',
      'User-agent: c\nDisallow: /tmp',
    ),
    reported: [
      info(4, 13, 'GPTBot', { agents: ['GPTBot'], otherLines: [2, 3] }),
      info(11, 13, 'c', { agents: ['c'], otherLines: [2] }),
    ],
  },
  'preference-not-inherited': {
    body: lines(
      'User-agent: *\nContent-Usage: train-ai=n\nDisallow: /a\nUser-agent: b\nDisallow: /a',
      'User-agent: c\nContent-Usage: train-ai=n\nDisallow: /a\nUser-agent: d\nDisallow: /',
    ),
    reported: [info(4, 13, 'b', { agents: ['b'], otherLine: 2 })],
  },
  'hash-in-path': {
    body: 'User-agent: *\nDisallow: /#/admin\nDisallow: /a # b\nDisallow: # c\nDisallow: /b#c ',
    reported: [warning(2, 11, '/#/admin', { meant: '/' }), warning(5, 11, '/b#c', { meant: '/b' })],
  },
  'blank-in-path': {
    body: lines('User-agent: *', 'Disallow: /my path', 'Allow: /a /b # /c d', 'Disallow: /c\td /e'),
    reported: [warning(2, 11, '/my path'), warning(3, 8, '/a /b'), warning(4, 11, '/c	d /e')],
  },
  'host-in-path': {
    body: lines(
      'User-agent: *',
      ...WITH_HOST.map((path) => `Disallow: ${path}`),
      ...'/example.com.html /com/x /a(b) /o%27b /?a=1&b=2 /a?b=%3Fc /*.pdf$ /$metadata /a//b /page[0-9] /wwwa'
        .split(' ')
        .map((path) => `Disallow: ${path}`),
    ),
    reported: WITH_HOST.map((path, index) => warning(index + 2, 11, path)),
  },
  'raw-letters': {
    body: lines('User-agent: *', 'Disallow: /für-€', 'Disallow: /f%C3%BCr'),
    reported: [info(2, 11, '/für-€', { meant: '/f%C3%BCr-%E2%82%AC' })],
  },
  'utf-16': { body: utf16(disallow('/')), reported: [warning(1, 1, '')] },
  'invalid-utf-8': {
    body: Uint8Array.from([...Buffer.from('# é\r\n#\u20ac '), 0xe9, 0x0a, 0xff]),
    reported: [warning(2, 6, '\ufffd')],
  },
  'past-size-limit': {
    body: lines('User-agent: *', 'Disallow: /abc', 'Disallow: /d'),
    maxBodyBytes: 27,
    reported: [error(2, 1, 'Disallow: /abc')],
  },
  'line-too-long': {
    body: lines('User-agent: *', `Disallow: /${'a'.repeat(16_652)}bc`, `Disallow: /${'a'.repeat(16_652)}`),
    reported: [warning(2, 16_664, 'bc')],
  },
  html: {
    body: lines('<!DOCTYPE html>', '<html lang="en">', '<a href="https://example.com">', '</html>'),
    reported: [error(1, 1, '<!DOCTYPE html>')],
  },
  'forgiven-key': {
    body: lines('User agent: *', '  dissallow: /a', 'site-map: https://example.com/s'),
    reported: [
      warning(1, 1, 'User agent', { meant: 'user-agent' }),
      warning(2, 3, 'dissallow', { meant: 'disallow' }),
      warning(3, 1, 'site-map', { meant: 'sitemap' }),
    ],
  },
  'misspelt-key': {
    body: lines(
      'User-agnt: *\nDisalow-: /a\nAlow: /b\nSitemaps: /c\nCrawldelay: 1\nAllowed: /',
      '1. Disallow: /',
    ),
    reported: [
      error(1, 1, 'User-agnt', { meant: 'user-agent' }),
      error(2, 1, 'Disalow-', { meant: 'disallow' }),
      error(3, 1, 'Alow', { meant: 'allow' }),
      error(4, 1, 'Sitemaps', { meant: 'sitemap' }),
      error(5, 1, 'Crawldelay', { meant: 'crawl-delay' }),
      error(6, 1, 'Allowed', { meant: 'allow' }),
      error(7, 1, '1. Disallow', { meant: 'disallow' }),
    ],
  },
  'missing-colon': {
    body: lines(
      'User-agent *\nDisallow /a b\nDisalow /c\nCrawl-delay 5\nUser-agent：b',
      'Sitemap https://a/s',
    ),
    reported: [
      warning(1, 1, 'User-agent', { meant: 'user-agent' }),
      error(2, 1, 'Disallow /a b', { meant: 'disallow' }),
      warning(3, 1, 'Disalow', { meant: 'disallow' }),
      warning(4, 1, 'Crawl-delay', { meant: 'crawl-delay' }),
      error(5, 1, 'User-agent：b', { meant: 'user-agent' }),
      error(6, 1, 'Sitemap https', { meant: 'sitemap' }),
    ],
  },
  'unreadable-line': {
    body: lines('Robots, be nice', ' hello world ', ': /x', '# hello'),
    reported: [warning(1, 1, 'Robots, be nice'), warning(2, 2, 'hello world'), warning(3, 1, ': /x')],
  },
  'control-byte': {
    body: lines(
      'User-agent: a\0b\nDisallow: \v/a\t/b\x7f/b\x1f/c \v # \0\nAllow: /d\v\t\nAllow: /e\x01f',
      'Sitemap:\0 \x01https://example.com/\n# \0\nx\0y',
    ),
    reported: [
      error(1, 14, '\0b'),
      error(2, 20, '\x1f/c'),
      error(4, 10, '\x01f', { meant: '' }),
      error(5, 9, '\0 \x01https://example.com/'),
    ],
  },
  'unsupported-directive': {
    body: lines('Host: example.com', 'User-agent: *', 'Noindex: /a', 'Disallow: /', 'noindex: /b', 'X: y'),
    reported: [info(1, 1, 'Host'), info(3, 1, 'Noindex', { omitted: 1 }), info(6, 1, 'X')],
  },
  'invalid-crawl-delay': {
    body: lines('User-agent: *', 'Crawl-delay: 1.5', 'Crawl-delay: ten', 'Crawl-delay:'),
    reported: [warning(3, 14, 'ten'), warning(4, 13, '')],
  },
  'relative-sitemap': {
    body: lines('Sitemap: HTTPS://example.com/s', 'Sitemap: /s', 'Sitemap:'),
    reported: [warning(2, 10, '/s'), warning(3, 9, '')],
  },
  'record-outside-group': {
    body: lines(
      'Content-Usage: search=n\nCrawl-delay: 1\nLicense: https://a/b\nUser-agent: *',
      'Crawl-delay: 1',
    ),
    reported: [warning(1, 1, 'Content-Usage'), warning(2, 1, 'Crawl-delay')],
  },
  'origin-wide-signal': {
    body: lines(
      'Content-Signal: search=no\n\nUser-agent: *\nContent-Signal: search=no\nAllow: /\n',
      '# For all\nSitemap: https://a/s\n  content-signals : ai-train=no',
    ),
    reported: [info(1, 1, 'Content-Signal'), info(9, 3, 'content-signals')],
  },
  'license-in-last-group': {
    body: lines(
      'User-agent: *\nAllow: /\n\nLicense: https://a/1\nUser-agent: b\nLicense: https://a/2',
      'Disallow: /\n\nSitemap: https://a/s\nLicense: https://a/3\nLicense: https://a/4',
    ),
    reported: [warning(10, 10, 'https://a/3', { otherLine: 5 })],
  },
  'rewritten-in-urls': {
    body: lines(
      'User-agent: *\nDisallow: /a\\b\nDisallow: /a/%2E./b\nDisallow: /a\tb\nDisallow: /.well',
      'Disallow: /..\nDisallow: /a?b\\c\nDisallow: /*\\\nDisallow: /...',
    ),
    dialect: 'google',
    reported: [
      warning(2, 13, '\\', { meant: '/' }),
      warning(3, 13, '/%2E.', { meant: '' }),
      warning(4, 13, '\t', { meant: '' }),
    ],
  },
  bracket: {
    body: lines('User-agent: *', 'Disallow: /*?f[a]', 'Disallow: /b%5Dc'),
    reported: [info(2, 15, '['), info(3, 13, '%5D')],
  },
  'agent-not-token': {
    body: lines(
      'User-agent: MJ12bot\nUser-agent: Foo/1.0, Bar\nUser-agent: "Foo"',
      'User-agent: GPTBot, ClaudeBot\nUser-agent: Foo BarBot; baz\nDisallow: /',
    ),
    reported: [
      info(1, 13, 'MJ12bot', { meant: 'MJ12bot' }),
      warning(2, 13, 'Foo/1.0, Bar', { meant: 'Foo, Bar' }),
      error(3, 13, '"Foo"', { meant: '' }),
      warning(4, 13, 'GPTBot, ClaudeBot', { meant: 'GPTBot, ClaudeBot', kind: 'list' }),
      warning(5, 13, 'Foo BarBot; baz', { meant: 'Foo' }),
    ],
  },
  'duplicate-group': {
    body: lines('User-agent: a', 'User-agent: A', 'Disallow: /b', 'User-agent: A', 'Disallow: /c'),
    reported: [warning(4, 13, 'A', { agent: 'A', otherLine: 1 })],
  },
  'directive-between-agents': {
    body: 'User-agent: a\n\nCrawl-delay: 5\nUser-agent: b\nDisallow: /\nX: y\nUser-agent: c',
    reported: [warning(4, 13, 'b', { otherLine: 3 })],
  },
  'empty-group': {
    body: 'User-agent: *\nDisallow: /\nUser-agent: a\nDisallow:\nUser-agent: b\nCrawl-delay: 1',
    reported: [warning(5, 13, 'b', { agent: 'b' })],
  },
  'merge-allows-all': {
    body: lines(
      '# BEGIN managed content\nUser-Agent: *\nContent-signal: search=yes,ai-train=no\nAllow: /',
      '# END managed content\n\nUser-agent: *\nDisallow: /',
    ),
    reported: [error(8, 11, '/', { agent: '*', otherLine: 4 })],
  },
  'rule-outside-group': {
    body: lines('Disallow: /a', 'User-agent: *', 'Disallow: /b'),
    reported: [error(1, 11, '/a')],
  },
  'rule-never-matches': {
    body: 'User-agent: *\nDisallow: a\nAllow: https://example.com/\nDisallow: *.gif$\nDisallow: $\nDisallow:\u00a0/q',
    reported: [
      error(2, 11, 'a'),
      error(3, 8, 'https://example.com/'),
      error(5, 11, '$'),
      error(6, 10, '\u00a0/q'),
    ],
  },
  'shadowed-rule': {
    body: 'User-agent: *\nDisallow: /a\nAllow: /b\nDisallow: /a\nDisallow: /a*\nDisallow: /b',
    reported: [
      warning(2, 11, '/a', { otherLine: 5 }),
      warning(4, 11, '/a', { otherLine: 5 }),
      warning(6, 11, '/b', { otherLine: 3 }),
    ],
  },
};

describe('each code', () => {
  describe.each(Object.entries(examples))('%s', (code, { body, dialect, maxBodyBytes, reported }) => {
    const file = parseRobots(body, dialect === undefined ? {} : { dialect });
    const all = lint(file, maxBodyBytes === undefined ? {} : { maxBodyBytes });
    const found = all.filter((diagnostic) => diagnostic.code === code);

    it('is reported where it is the matter, and nowhere else', () => {
      expect(found).toEqual(reported.map((diagnostic) => ({ code, ...diagnostic })));
    });

    it('has a message, a hint and an explanation', () => {
      for (const diagnostic of found) {
        const { message, hint, explanation } = describeDiagnostic(diagnostic);
        expect(message).toMatch(/^["A-Z][^\n]{15,}\.(?: \(\d+ more of this kind\.\))?$/);
        expect(hint).toMatch(/^[A-Z][^\n]{10,}\.$/);
        expect(explanation).toMatch(/^["A-Z`][^\n]{50,}[.”"]$/);
        for (const text of [message, hint]) expect(text).not.toMatch(/undefined|line 0/);
      }
    });
  });

  it('is not reported of a file with nothing the matter', () => {
    const body = lines(
      '# A file\nUser-agent: ExampleBot\nUser-agent: OtherBot\nAllow: /a/b$\nDisallow: /a',
      'Disallow: /*.gif$\n\nUser-agent: FreeBot\nDisallow:\n\nUser-agent: *\nDisallow: /',
      'Allow: /public/\n\nSitemap: https://example.com/sitemap.xml\n',
    );
    for (const dialect of ['rfc9309', 'google'] as const) {
      expect(lint(parseRobots(body, { dialect }))).toEqual([]);
    }
    for (const nothing of ['', '\n\n', '# A comment', 'User-agent: *\nDisallow:'])
      expect(lint(parseRobots(nothing))).toEqual([]);
  });
});

describe('messages', () => {
  const first = (body: string): string => {
    const diagnostic = lint(parseRobots(body)).find(({ code }) => code !== 'nothing-in-effect');
    return diagnostic === undefined ? '' : describeDiagnostic(diagnostic).message;
  };

  it('say what a directive is, and how many more there are', () => {
    expect(first('Noindex: /a\nNoIndex: /b')).toBe(
      '"Noindex" is not part of RFC 9309 and allows or disallows nothing: it is a directive that was never part of any standard; Google stopped reading it in 2019. (1 more of this kind.)',
    );
    expect(first('constructor: /a')).toContain('canfetch does not know it');
  });

  it('quote what is foreign, and cut it', () => {
    expect(first('\u001b[31m"x"')).toContain(JSON.stringify('\u001b[31m"x"'));
    const diagnostic = lint(parseRobots(`x y ${'z'.repeat(10_000)}`)).at(-1);
    expect(diagnostic?.text).toHaveLength(100);
  });
});

describe('bytes', () => {
  it('a file of exactly the limit loses nothing, the line that passes it is lost', () => {
    const body = lines('User-agent: *', 'Disallow: /a', '');
    const lost = (maxBodyBytes: number): number[] =>
      linesOf(lint(parseRobots(body), { maxBodyBytes }).filter(({ code }) => code === 'past-size-limit'));
    expect(lost(body.length)).toEqual([]);
    // What is cut off is the line feed.
    expect(lost(body.length - 1)).toEqual([]);
    expect(lost(body.length - 2)).toEqual([2]);
    expect(lost(0)).toEqual([1]);
    expect(linesOf(diagnosed(`${'#'.repeat(511_999)}\nDisallow: /`, 'past-size-limit'))).toEqual([2]);
  });

  it('a line of 16,663 bytes is whole, whatever ends it', () => {
    for (const end of ['', '\n', '\r\n', '\r']) {
      expect(diagnosed(`#${'a'.repeat(16_662)}${end}`, 'line-too-long')).toEqual([]);
      expect(diagnosed(`#${'a'.repeat(16_663)}${end}`, 'line-too-long')).toHaveLength(1);
    }
    expect(diagnosed(`#${'a'.repeat(16_663)}`, 'line-too-long', 'google')[0]?.severity).toBe('error');
  });

  it('google does not transcode UTF-16', () => {
    expect(diagnosed(utf16(disallow('/')), 'utf-16', 'google')[0]?.severity).toBe('error');
    expect(diagnosed(utf16(disallow('/')), 'invalid-utf-8', 'google')).toHaveLength(1);
    expect(diagnosed(utf16(disallow('/')), 'invalid-utf-8')).toEqual([]);
  });

  it('a byte order mark shifts no column, a U+FFFD as such is UTF-8', () => {
    expect(diagnosed('\ufeffDissalow: /', 'forgiven-key')[0]?.column).toBe(1);
    expect(diagnosed('# \ufffd', 'invalid-utf-8')).toEqual([]);
    for (const bytes of [[0xef], [0xef, 0xbf], [0xef, 0x0a], [0xff], [0xf0, 0x9f, 0x92]]) {
      expect(diagnosed(Uint8Array.of(0x23, ...bytes), 'invalid-utf-8')).toMatchObject([
        { line: 1, column: 2 },
      ]);
    }
  });
});

describe('control bytes', () => {
  it('end a line or nothing in the other dialects, which is told', () => {
    const severities = (body: string, dialect: Dialect): string[] =>
      diagnosed(body, 'control-byte', dialect).map(({ severity }) => severity);
    expect(severities('Disallow: /\0a', 'google')).toEqual(['error']);
    expect(severities('Disallow: /\x01a', 'google')).toEqual(['warning']);
    expect(severities('Disallow: /\0a', 'koster-1996')).toEqual(['warning']);
    expect(severities('Disallow: /a\t\v', 'koster-1996')).toEqual([]);
  });
});

describe('order', () => {
  it('is by line, then by column', () => {
    const body = Uint8Array.from([...Buffer.from('user agent: *\ndisalow: x'), 0xff]);
    expect(lint(parseRobots(body)).map(({ code, line, column }) => [code, line, column])).toEqual([
      ['forgiven-key', 1, 1],
      ['forgiven-key', 2, 1],
      ['rule-never-matches', 2, 10],
      ['invalid-utf-8', 2, 11],
    ]);
  });
});

describe('keys', () => {
  it('extensions and words of their own are no misspellings', () => {
    const keys = [
      ...['Host', 'Domain', 'Clean-param', 'Noindex', 'Nofollow', 'Noarchive', 'Request-rate', 'Visit-time'],
      ...['Content-Usage', 'Content-Signal', 'License', 'Schemamap', 'Llms-txt', 'Cache-delay', 'Comment'],
      ...['DisallowAITraining', 'AllowAITraining', 'Revisit-after', 'Robot-version', 'User-agent-purpose'],
    ];
    const body = keys.map((key) => `${key}: x\n`).join('');
    expect(diagnosed(body, 'misspelt-key')).toEqual([]);
    expect(diagnosed(body, 'unsupported-directive').map(({ text }) => text)).toEqual(keys);
  });

  it('google takes keys by prefix, 1994 has no Allow', () => {
    expect(diagnosed('Disallow-AI: /', 'forgiven-key', 'google')[0]?.meant).toBe('disallow');
    expect(diagnosed('Disallow-AI: /', 'unsupported-directive')).toHaveLength(1);
    expect(diagnosed('User-agent: *\nAllow: /', 'unsupported-directive', 'robotstxt-1994')).toHaveLength(1);
  });

  it('the dialects of the 1990s forgive neither misspellings nor a missing colon', () => {
    for (const dialect of ['koster-1996', 'robotstxt-1994'] as const) {
      expect(diagnosed('Useragent: *', 'misspelt-key', dialect)).toHaveLength(1);
      expect(diagnosed('Disallow /', 'missing-colon', dialect)[0]?.severity).toBe('error');
    }
  });
});

describe('groups', () => {
  it('of what stands between user-agent lines the first directive is told, once', () => {
    const body = 'User-agent: a\n\nX: y\nZ: y\n\nUser-agent: b\nUser-agent: c\nDisallow: /';
    expect(diagnosed(body, 'directive-between-agents')).toMatchObject([{ line: 6, otherLine: 3 }]);
  });

  it('a blank line ends a record in the 1990s, so that nothing is joined', () => {
    const body = lines('User-agent: a', '', 'User-agent: b', 'Disallow: /');
    expect(diagnosed(body, 'empty-group', 'koster-1996').map(({ agent }) => agent)).toEqual(['a']);
    expect(linesOf(diagnosed('User-agent: a\n\nDisallow: /', 'rule-outside-group', 'koster-1996'))).toEqual([
      3,
    ]);
  });

  it('a group without rules has those of agents whose names are parts of its own, in 1994', () => {
    const body = lines('User-agent: foobot', 'Crawl-delay: 1', '', 'User-agent: bot', 'Disallow: /', '');
    expect(parseRobots(body, { dialect: 'robotstxt-1994' }).check('/', 'foobot').allowed).toBe(false);
    expect(diagnosed(body, 'empty-group', 'robotstxt-1994')).toEqual([]);
    expect(parseRobots(body, { dialect: 'koster-1996' }).check('/', 'foobot').allowed).toBe(true);
    expect(diagnosed(body, 'empty-group', 'koster-1996')).toHaveLength(1);
    const others = 'User-agent: bot\nX: y\n\nUser-agent: foobot\nDisallow: /\n\nUser-agent: *';
    expect(diagnosed(others, 'empty-group', 'robotstxt-1994').map(({ agent }) => agent)).toEqual(['*']);
  });

  it('a merge is no matter where `Disallow: /` still wins, or never won', () => {
    const group = (...rules: string[]): string => lines('User-agent: *', ...rules, '');
    const overruled = (...groups: string[]): number[] =>
      linesOf(diagnosed(groups.join('\n'), 'merge-allows-all'));
    expect(overruled(group('Allow: /'), group('Disallow: /*'))).toEqual([]);
    expect(overruled(group('Allow: /*'), group('Disallow: /'))).toEqual([5]);
    expect(overruled(group('Allow: *'), group('Disallow: /'))).toEqual([5]);
    expect(overruled(group('Allow: /', 'Disallow: /'))).toEqual([]);
    expect(overruled(group('Allow: /a'), group('Disallow: /'))).toEqual([]);
    expect(overruled(group('Allow: /'), lines('User-agent: a', 'Disallow: /'))).toEqual([]);
    expect(overruled(group('Allow: /'), lines('User-agent: a', 'User-agent: *', 'Disallow: /'))).toEqual([6]);
  });
});

describe('what URL parsers rewrite', () => {
  const codes = (pattern: string, dialect: Dialect): string[] =>
    lint(parseRobots(disallow(pattern), { dialect }))
      .map(({ code }) => code)
      .filter((code) => code === 'rewritten-in-urls' || code === 'bracket');

  it('is reported where no parsed URL matches, by a dialect', () => {
    expect(codes('/a"b', 'google')).toEqual(['rewritten-in-urls']);
    expect(codes('/a"b', 'rfc9309')).toEqual([]);
    expect(codes('/a[b', 'google')).toEqual(['bracket']);
    expect(codes('/a[b', 'koster-1996')).toEqual([]);
    expect(codes('/a/../b', 'koster-1996')).toEqual(['rewritten-in-urls']);
    for (const [pattern, escaped] of [
      ['/a\\b', '/a%5Cb'],
      ['/a\tb', '/a%09b'],
    ] as const) {
      for (const dialect of ['rfc9309', 'koster-1996', 'robotstxt-1994'] as const) {
        expect(codes(pattern, dialect)).toEqual([]);
        const file = parseRobots(disallow(pattern), { dialect });
        expect(file.check(`https://example.com${escaped}`).allowed).toBe(false);
      }
    }
    // The rule matches nothing that was parsed, and its spelling as parsed does.
    for (const [pattern, spelt, dialect] of [
      ['/a\\b', '/a/b', 'google'],
      ['/a/../b', '/b', 'rfc9309'],
      ['/a\tb', '/ab', 'google'],
      ['/a b', '/a%20b', 'google'],
    ] as const) {
      const url = `https://example.com${pattern}`;
      expect(parseRobots(disallow(pattern), { dialect }).check(url).allowed).toBe(true);
      expect(parseRobots(disallow(spelt), { dialect }).check(url).allowed).toBe(false);
    }
  });

  it('a licence that is for all anyway, or stands by its group, is not reported', () => {
    const found = (...body: string[]): string[] =>
      lint(parseRobots(lines(...body)))
        .map(({ code }) => code)
        .filter((code) => code.startsWith('license'));
    expect(found('User-agent: *', 'Allow: /', '', 'License: https://a/b')).toEqual([]);
    expect(found('User-agent: b', 'Allow: /', 'License: https://a/b')).toEqual([]);
    expect(found('User-agent: b', 'Allow: /', '', 'License: https://a/b')).toEqual(['license-in-last-group']);
  });
});

describe('rules that never decide', () => {
  const shadowed = (dialect: Dialect, ...rules: string[]): number[] =>
    linesOf(diagnosed(lines('User-agent: *', ...rules), 'shadowed-rule', dialect));

  it.each<[string, Dialect, string[], number[]]>([
    ['an equal Disallow beside Allow', 'rfc9309', ['Disallow: /a', 'Allow: /a'], [2]],
    ['not what only starts alike', 'rfc9309', ['Disallow: /a*', 'Allow: /ab'], []],
    ['the same by another escape', 'rfc9309', ['Disallow: /~a', 'Disallow: /%7ea'], [3]],
    ['not so where escapes are no matter', 'google', ['Disallow: /~a', 'Disallow: /%7ea'], []],
    ['an anchored rule beside as long a one that covers it', 'rfc9309', ['Disallow: /a$', 'Allow: /a*'], [2]],
    [
      'what stars outweigh',
      'rfc9309',
      ['Disallow: /****', 'Allow: /ab', 'Disallow: /a*b', 'Allow: /abcde'],
      [3, 4],
    ],
    ['wild rules that differ in their stars', 'rfc9309', ['Disallow: /*a', 'Disallow: /**a*'], [2]],
    ['not what google allows besides', 'google', ['Disallow: /a/index.html*', 'Allow: /a/index.html'], []],
    ['by order: what an earlier prefix covers', 'koster-1996', ['Allow: /', 'Disallow: /a'], [3]],
  ])('%s (%s)', (_, dialect, rules, expected) => {
    expect(shadowed(dialect, ...rules)).toEqual(expected);
  });

  it('groups for the same agents count as one, others do not', () => {
    const body = (second: string): string =>
      lines('User-agent: a', 'User-agent: b', 'Disallow: /x', second, 'Disallow: /x');
    expect(linesOf(diagnosed(body('User-agent: B, A'), 'shadowed-rule'))).toEqual([5]);
    expect(linesOf(diagnosed(body('User-agent: a'), 'shadowed-rule'))).toEqual([5]);
    expect(linesOf(diagnosed(body('User-agent: a\nUser-agent: c'), 'shadowed-rule'))).toEqual([]);
  });

  const piece = fc.constantFrom('a', 'b', '/', '?', '*', '*', '$', '%2F', '%61', '%2a', '$', 'é');
  const pattern = fc
    .tuple(fc.constantFrom('/', '/', '/', '*', ''), fc.array(piece, { maxLength: 5 }))
    .map(([start, parts]) => start + parts.join(''));
  const rule = fc.record({ allow: fc.boolean(), pattern });
  const group = fc.record({
    agents: fc.uniqueArray(fc.constantFrom('a', 'ab', '*'), { minLength: 1 }),
    rules: fc.array(rule, { minLength: 1, maxLength: 8 }),
  });
  const body = fc
    .array(group, { minLength: 1, maxLength: 4 })
    .map((groups) =>
      groups
        .flatMap(({ agents, rules }) => [
          ...agents.map((agent) => `User-agent: ${agent}`),
          ...rules.map(({ allow, pattern: path }) => `${allow ? 'Allow' : 'Disallow'}: ${path}`),
        ])
        .join('\n'),
    );
  const target = fc
    .array(fc.constantFrom('a', 'b', '/', '?', '*', '$', '%2F', '%2f', '%61', '%C3%A9', 'é', 'index.htm'), {
      maxLength: 7,
    })
    .map((parts) => `/${parts.join('')}`);

  it.each(ALL_DIALECTS)(
    'are reported only where no target and no agent is decided by them: %s',
    (dialect) => {
      fc.assert(
        fc.property(body, fc.array(target, { minLength: 5, maxLength: 20 }), (text, targets) => {
          const file = parseRobots(text, { dialect });
          const idle = new Set(['shadowed-rule', 'rule-never-matches', 'merge-allows-all']);
          const never = new Set(
            linesOf(lint(file).filter(({ code, agent }) => idle.has(code) && agent === undefined)),
          );
          const overruled = lint(file).filter(({ code }) => code === 'merge-allows-all');
          const written = text.split('\n').map((line) => line.replace(/^\w+: /, ''));
          const decided: number[] = [];
          for (const agent of ['a', 'ab', 'c']) {
            for (const path of [...targets, ...written.filter((each) => each.startsWith('/'))]) {
              const verdict = file.check(path, agent);
              if (verdict.reason !== 'rule') continue;
              const { group: chosen, rule: winner } = verdict;
              const isOverruled = overruled.some(
                ({ agent: name, line }) => chosen.agent === name && winner.line === line,
              );
              if (never.has(winner.line) || isOverruled) decided.push(winner.line);
            }
          }
          expect(decided).toEqual([]);
        }),
        { numRuns: runs(100) },
      );
    },
  );

  it('by order all of them are reported', () => {
    fc.assert(
      fc.property(fc.array(rule, { minLength: 1, maxLength: 10 }), (rules) => {
        const text = rules.map(({ allow, pattern: path }) => `${allow ? 'Allow' : 'Disallow'}: ${path}`);
        const file = parseRobots(lines('User-agent: *', ...text), { dialect: 'koster-1996' });
        const never = new Set(
          linesOf(lint(file).filter(({ code }) => /^(?:shadowed-rule|rule-never)/.test(code))),
        );
        for (const [index, { pattern: path }] of rules.entries()) {
          // A raw `?` ends a target of 1996.
          if (never.has(index + 2) || path === '') continue;
          expect(file.check(path.replaceAll('?', '%3F'), 'x')).toMatchObject({ rule: { line: index + 2 } });
        }
      }),
      { numRuns: runs(200) },
    );
  });
});

describe('agents', () => {
  it('shown are those that rules are chosen by', () => {
    const part = fc.constantFrom(...'a|B|1|.|-|_| |\t|\v|\f|,|*|/|é|\0'.split('|'));
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }).map((parts) => parts.join('').trim()),
        fc.constantFrom(...ALL_DIALECTS),
        (value, dialect) => {
          const traits = dialects[dialect];
          const bytes = Uint8Array.from(Buffer.from(value));
          const names = agentNames(value, traits);
          const named = (agent: string): number =>
            agentLineNames(bytes, 0, bytes.length, callerAgent(agent, traits), traits);
          for (const name of names) {
            expect(named(name) & (name === '*' ? NAMES_ALL : NAMES_AGENT)).not.toBe(0);
          }
          expect(names.includes('*')).toBe((named('nobody') & NAMES_ALL) !== 0);
          for (const agent of ['a', 'ab', 'b', 'a1', 'ba']) {
            if (traits.agentMatch === 'substring') continue;
            expect(names.some((name) => name.toLowerCase() === agent)).toBe(
              (named(agent) & NAMES_AGENT) !== 0,
            );
          }
        },
      ),
      { numRuns: runs(200) },
    );
  });
});

describe('any bytes', () => {
  it('are diagnosed without throwing, in order of lines', () => {
    const text = fc
      .array(
        fc.constantFrom(
          ...'User-agent:|user-agent a|Disallow:|Allow: /|Crawl-delay:|Sitemap| |,|*|$|%|/|#|:|\0'.split('|'),
          ...'\r|\n|\r\n|\ufeff|é|<|disalow'.split('|'),
        ),
        { maxLength: 60 },
      )
      .map((parts) => Uint8Array.from(Buffer.from(parts.join(''))));
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array({ maxLength: 300 }), text),
        fc.constantFrom(...ALL_DIALECTS),
        fc.nat(300),
        (bytes, dialect, maxBodyBytes) => {
          const found = lint(parseRobots(bytes, { dialect }), { maxBodyBytes });
          const details = linesOf(found.filter(({ code }) => !WHOLE_FILE.has(code)));
          expect(details).toEqual([...details].sort((a, b) => a - b));
          for (const diagnostic of found) {
            expect(Math.min(diagnostic.line, diagnostic.column)).toBeGreaterThan(0);
            expect(describeDiagnostic(diagnostic).message).not.toBe('');
          }
        },
      ),
      { numRuns: runs(200) },
    );
  });
});

describe('large and hostile files', () => {
  const repeat = (count: number, line: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => line(index)).join('');
  const files: Readonly<Record<string, string>> = {
    '40,000 rules': `User-agent: *\n${repeat(40_000, (index) => `Disallow: /${index}\n`)}`,
    '60,000 times the same rule': `User-agent: *\n${'Allow:/\n'.repeat(60_000)}`,
    'rules that start each other': `User-agent: *\n${repeat(1_000, (index) => `Disallow: /${'a'.repeat(index)}*\n`)}`,
    'long rules that end differently': `User-agent: *\n${repeat(50, (index) => `Allow: /${'a'.repeat(10_000)}${index}\n`)}`,
    '50,000 groups': repeat(50_000, (index) => `User-agent: bot${index}\nDisallow: /\n`),
    '50,000 groups of one agent': repeat(50_000, (index) => `User-agent: a\nDisallow: /${index}\n`),
    '50,000 agents of one group': `${repeat(50_000, (index) => `User-agent: bot${index}\n`)}Disallow: /`,
    '250,000 agents on one line': `User-agent: ${'a,'.repeat(250_000)}`,
    'one line of 500 KiB': disallow(`/${'a'.repeat(512_000)}`),
    'one line of stars': disallow(`/${'*a'.repeat(256_000)}`),
    'one long label': `User-agent: *\nContent-Signal: ${'a'.repeat(500_000)}`,
    '100,000 misspellings': repeat(100_000, () => 'disalllo:\n'),
  };

  it.each(Object.entries(files))('%s take time in proportion to their bytes', (_, text) => {
    const file = parseRobots(text);
    let found: readonly Diagnostic[] = [];
    // What is not linear takes minutes here.
    expect(cpuMs(() => void (found = lint(file)))).toBeLessThan(10_000);
    expect(found.length).toBeLessThan(2_500);
  });

  it('show a hundred of a code, the last with the number of the others', () => {
    const found = diagnosed('x\n'.repeat(250_000), 'unreadable-line');
    expect(found).toHaveLength(100);
    expect(found.at(-1)).toMatchObject({ line: 100, omitted: 249_900 });
    expect(found[98]).not.toHaveProperty('omitted');
  });

  it('show each directive once, as long as there are not too many', () => {
    const keys = diagnosed(repeat(100_000, (index) => `key${index}:\n`).repeat(2), 'unsupported-directive');
    expect(keys.length).toBeLessThanOrEqual(600);
    const shown = keys.reduce((sum, { omitted = 0 }) => sum + 1 + omitted, 0);
    expect(shown).toBe(200_000);
  });
});
