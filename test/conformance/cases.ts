/** What each dialect answers: `+` allowed or `-` disallowed, and the line that decides; 0 when no rule does. */
export type Answer = `${'+' | '-'}${number}`;

/** Examples of our own. The columns are `rfc9309`, `google`, `koster-1996`, `robotstxt-1994`. */
export type Case = readonly [
  what: string,
  file: readonly string[] | Uint8Array,
  agent: string,
  target: string,
  ...answers: readonly [Answer, Answer, Answer, Answer],
];

const all = (...rules: string[]): string[] => ['User-agent: *', ...rules];
const utf16 = (text: string): Uint8Array => Buffer.from(`\ufeff${text}`, 'utf16le');
const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');

const DISALLOW_A = all('Disallow: /a');
const TWO = ['User-agent: fig', 'Disallow: /a', '', 'User-agent: *', 'Disallow: /b'];
const BLANK = ['User-agent: fig', '', 'Disallow: /a'];
const COMMENT = ['User-agent: fig', '# why', 'Disallow: /a'];
const MERGED = [...TWO, '', 'User-agent: FIG', 'Disallow: /c'];
const LONGEST = all('Disallow: /a', 'Allow: /a/b', 'Disallow: /a/b/c');
const WILD = all('Disallow: /*.gif$', 'Disallow: /x*y');

export const GROUPS: readonly Case[] = [
  ['an empty file', [], 'fig', '/a', '+0', '+0', '+0', '+0'],
  ['the group of the agent', TWO, 'fig', '/a', '-2', '-2', '-2', '-2'],
  ['and no other with it', TWO, 'fig', '/b', '+0', '+0', '+0', '+0'],
  ['the group of everybody else', TWO, 'plum', '/b', '-5', '-5', '-5', '-5'],
  ['a group further down is merged', MERGED, 'fig', '/c', '-8', '-8', '-8', '-8'],
  ['a group without rules', ['User-agent: fig', '', ...DISALLOW_A], 'fig', '/a', '-4', '-4', '+0', '+0'],
  ['two agents, one group', ['User-agent: fig', ...DISALLOW_A], 'fig', '/a', '-3', '-3', '-3', '-3'],
  ['an agent line after a rule', [...DISALLOW_A, 'User-agent: fig'], 'fig', '/a', '+0', '+0', '+0', '+0'],
  ['a blank line before the rules', BLANK, 'fig', '/a', '-3', '-3', '+0', '+0'],
  ['a comment before the rules', COMMENT, 'fig', '/a', '-3', '-3', '-3', '-3'],
  ['rules before any agent', ['Disallow: /a', 'User-agent: *'], 'fig', '/a', '+0', '+0', '+0', '+0'],
  ['a name in other case', ['user-AGENT: FiG', 'disallow: /a'], 'fig', '/a', '-2', '-2', '-2', '-2'],
  ['a name with a version', ['User-agent: fig/2.0', 'Disallow: /a'], 'fig', '/a', '-2', '-2', '-2', '-2'],
  ["part of the caller's name", ['User-agent: fig', 'Disallow: /a'], 'figbot', '/a', '+0', '+0', '+0', '-2'],
  ['a list of names', ['User-agent: plum, fig', 'Disallow: /a'], 'fig', '/a', '-2', '+0', '+0', '+0'],
  ['a digit in a name', ['User-agent: fig2', 'Disallow: /a'], 'fig', '/a', '+0', '-2', '+0', '+0'],
  ['a group of all, and words', ['User-agent: * all', 'Disallow: /a'], 'fig', '/a', '-2', '-2', '-2', '-2'],
  [
    'a sitemap between',
    ['User-agent: fig', 'Sitemap: /s', 'Disallow: /a'],
    'fig',
    '/a',
    '-3',
    '-3',
    '-3',
    '-3',
  ],
];

export const LINES: readonly Case[] = [
  [
    'spaces around everything',
    [' User-agent : * ', '\tDisallow :\t/a '],
    'fig',
    '/a',
    '-2',
    '-2',
    '-2',
    '-2',
  ],
  ['a comment after the path', all('Disallow: /a # not yet'), 'fig', '/a', '-2', '-2', '-2', '-2'],
  ['an empty path', all('Disallow:'), 'fig', '/a', '+0', '+0', '+0', '+0'],
  ['a misspelt key', all('Dissallow: /a'), 'fig', '/a', '-2', '-2', '+0', '+0'],
  ['a key that only begins like one', all('Disallow-all: /a'), 'fig', '/a', '+0', '-2', '+0', '+0'],
  ['no colon, two words', all('Disallow /a'), 'fig', '/a', '-2', '-2', '+0', '+0'],
  ['no colon, three words', all('Disallow /a /b'), 'fig', '/a', '+0', '+0', '+0', '+0'],
  ['lines that end at CR', ['User-agent: *\rDisallow: /a\rAllow: /a/b'], 'fig', '/a', '-2', '-2', '-2', '-2'],
  ['lines that end at CRLF', ['User-agent: *\r\nDisallow: /a\r'], 'fig', '/a', '-2', '-2', '-2', '-2'],
  ['a byte order mark', ['\ufeffUser-agent: *', 'Disallow: /a'], 'fig', '/a', '-2', '-2', '-2', '-2'],
  [
    'half a byte order mark',
    latin1('\u00ef\u00bbUser-agent: *\nDisallow: /a'),
    'fig',
    '/a',
    '+0',
    '-2',
    '+0',
    '+0',
  ],
  ['UTF-16', utf16('User-agent: *\nDisallow: /a'), 'fig', '/a', '-2', '+0', '-2', '-2'],
  [
    'octets that are not UTF-8',
    latin1('User-agent: *\nDisallow: /\u00e9\nDisallow: /b'),
    'fig',
    '/b',
    '-3',
    '-3',
    '-3',
    '-3',
  ],
  [
    'a NUL ends a value for rfc9309, and a line for google',
    ['User-agent: *', 'Disallow: /a\0b'],
    'fig',
    '/a',
    '-2',
    '-2',
    '+0',
    '+0',
  ],
];

export const RULES: readonly Case[] = [
  ['the longest rule', LONGEST, 'fig', '/a/b/d', '+3', '+3', '-2', '-2'],
  ['the longest of three', LONGEST, 'fig', '/a/b/c', '-4', '-4', '-2', '-2'],
  ['allow among equals', all('Disallow: /a', 'Allow: /a'), 'fig', '/a', '+3', '+3', '-2', '-2'],
  ['allow before all', all('Allow: /a/b', 'Disallow: /'), 'fig', '/a/b', '+2', '+2', '+2', '-3'],
  ['paths are compared in their case', DISALLOW_A, 'fig', '/A', '+0', '+0', '+0', '+0'],
  ['a prefix is enough', DISALLOW_A, 'fig', '/abc', '-2', '-2', '-2', '-2'],
  ['the query is part of it', all('Disallow: /a?q'), 'fig', '/a?q=1', '-2', '-2', '+0', '+0'],
  ['a star', WILD, 'fig', '/xzy', '-3', '-3', '+0', '+0'],
  ['an anchored end', WILD, 'fig', '/p/q.gif', '-2', '-2', '+0', '+0'],
  ['after the anchored end', WILD, 'fig', '/q.gif?1', '+0', '+0', '+0', '+0'],
  ['a dollar in the middle', all('Disallow: /a$b'), 'fig', '/a$b', '-2', '-2', '-2', '-2'],
  ['a star as it is written', all('Disallow: /x*y'), 'fig', '/x*y', '-2', '-2', '-2', '-2'],
  ['an escaped star', all('Disallow: /x%2Ay'), 'fig', '/xzy', '+0', '+0', '+0', '+0'],
  ['an escaped letter in the rule', all('Disallow: /%61'), 'fig', '/a', '-2', '+0', '-2', '-2'],
  ['an escaped letter in the target', DISALLOW_A, 'fig', '/%61', '-2', '+0', '-2', '-2'],
  ['an escaped slash', all('Disallow: /a%2fb'), 'fig', '/a/b', '+0', '+0', '+0', '+0'],
  ['hex digits in other case', all('Disallow: /a%2fb'), 'fig', '/a%2Fb', '-2', '-2', '-2', '-2'],
  ['a letter outside ASCII', all('Disallow: /\u00e9'), 'fig', '/%C3%A9', '-2', '-2', '-2', '-2'],
  ['a colon in a query', all('Disallow: /*u=http://'), 'fig', '/?u=http%3A%2F%2F', '-2', '+0', '+0', '+0'],
  ['an apostrophe in a query', all("Disallow: /*q='"), 'fig', '/?q=%27', '-2', '+0', '+0', '+0'],
  [
    'a directory by its index',
    all('Disallow: /a/', 'Allow: /a/index.html'),
    'fig',
    '/a/',
    '-2',
    '+3',
    '-2',
    '-2',
  ],
  ['robots.txt itself', all('Disallow: /'), 'fig', '/robots.txt', '+0', '-2', '+0', '+0'],
  ['another robots.txt', all('Disallow: /'), 'fig', '/a/robots.txt', '-2', '-2', '-2', '-2'],
];
