import { Chance } from './random.ts';

/*
 * Files that a hostile site could write, and paths that its links could have: each is chosen for a way of matching or of
 * describing that it makes slow. A file may have any size, so that growth can be measured.
 */
export interface HostileFamily {
  readonly file: (bytes: number) => Uint8Array;
  readonly path: string;
}

export const PATH_BYTES = 8_000;

/** Every byte that the rules have, where it helps none of them: what tells targets apart at a glance tells nothing. */
const EVERY_BYTE = '/9876543210_.=&-zyxwvutsrqponmlkjihgfedcba';

/** URLs with the path of a family, all different. */
export const urlOf = (path: string, number: number): string =>
  `https://example.com/${path}${EVERY_BYTE}${number}`;

const encoder = new TextEncoder();

/** A file of so many bytes, of lines that differ. */
function linesOf(bytes: number, line: (index: number) => string): Uint8Array {
  const lines = ['User-agent: *\n'];
  for (let index = 0, length = lines[0]!.length; length < bytes; index++) {
    const next = `${line(index)}\n`;
    length += next.length;
    lines.push(next);
  }
  return encoder.encode(lines.join(''));
}

const rules = (bytes: number, pattern: (index: number) => string): Uint8Array =>
  linesOf(bytes, (index) => `Disallow: ${pattern(index)}`);

/** Bytes above 7F, as characters, in no order. */
const HIGH_BYTES = Array.from({ length: 128 }, (_, index) =>
  String.fromCharCode(128 + ((index * 47) % 128)),
).join('');

/** Rules whose characters are bytes: mostly no UTF-8. */
const rawRules = (bytes: number, pattern: (index: number) => string): Uint8Array =>
  Uint8Array.from(new TextDecoder().decode(rules(bytes, pattern)).slice(0, bytes), (character) =>
    character.codePointAt(0)!,
  );

const nth = (index: number): string => index.toString(36).padStart(3, 'z');
const a = (count: number): string => 'a'.repeat(count);
const A_PATH = a(PATH_BYTES);

/** Pseudo-random characters of these. */
function characters(count: number, of: string, chance: Chance = new Chance(23)): string {
  let text = '';
  while (text.length < count) text += of[chance.below(of.length)]!;
  return text;
}

/** Rules of `count` pieces of so many letters each: all pairs of them occur everywhere. `end` occurs in no path. */
function randomPieces(bytes: number, letters: number, count: number, end = ''): Uint8Array {
  const chance = new Chance(29);
  return rules(
    bytes,
    () => `/*${Array.from({ length: count }, () => characters(letters, 'ab', chance)).join('*')}${end}`,
  );
}

const IN_PATHS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!&()+,;=@:/';
const RANDOM_PATH = characters(PATH_BYTES, IN_PATHS);

/** Random bytes, as a URL parser escapes them. */
function randomEscapes(): string {
  const chance = new Chance(31);
  let text = '';
  while (text.length < PATH_BYTES) text += `%${chance.below(256).toString(16).padStart(2, '0')}`;
  return text;
}

const nearlyFitting = (bytes: number): Uint8Array => rules(bytes, (n) => `/*${a(8)}b${nth(n)}`);
const random20 = (bytes: number): Uint8Array => rules(bytes, (n) => `/*${nth(n)}*${nth(n * 7)}*8_0`);
const folding = (bytes: number): Uint8Array => rules(bytes, (n) => `/*%2F${nth(n)}`);

export const hostileFamilies: Readonly<Record<string, HostileFamily>> = {
  'pieces that nearly fit': { file: nearlyFitting, path: A_PATH },
  'pieces that nearly fit often': { file: nearlyFitting, path: `${a(30)}b`.repeat(PATH_BYTES / 31) },
  'pieces, and random characters': { file: random20, path: RANDOM_PATH },
  'pieces, and random bytes': { file: random20, path: randomEscapes() },
  'two pieces': { file: (bytes) => rules(bytes, (n) => `/*a*b${nth(n)}`), path: A_PATH },
  'one shared prefix before a star': { file: (bytes) => rules(bytes, (n) => `/a*${nth(n)}`), path: A_PATH },
  'one long shared prefix': { file: (bytes) => rules(bytes, (n) => `/${a(1_500)}${nth(n)}`), path: A_PATH },
  'prefixes of each other': { file: (bytes) => rules(bytes, (n) => `/${a(n + 1)}`), path: A_PATH },
  'escapes that fold': { file: folding, path: `?${'x/y:'.repeat(PATH_BYTES / 4)}` },
  'escapes that fold, and random characters': { file: folding, path: RANDOM_PATH.replaceAll(';', '?') },
  'percent signs of any kind': {
    file: (bytes) => rules(bytes, (n) => `/*%zz*${nth(n)}%4`),
    path: '%zz%4%31%'.repeat(PATH_BYTES / 9),
  },
  'single pieces': { file: (bytes) => rules(bytes, (n) => `/*${nth(n)}`), path: A_PATH },
  '500 stars a rule': {
    file: (bytes) => rules(bytes, (n) => `/${'*a'.repeat(500 - (n % 5))}*b`),
    path: A_PATH,
  },
  'long pieces': { file: (bytes) => rules(bytes, (n) => `/*${a(4_000 - (n % 9))}b`), path: A_PATH },
  'rules to be rewritten': { file: (bytes) => rules(bytes, (n) => `/%61%62${nth(n)}%2f`), path: A_PATH },
  'nothing but escapes': {
    file: (bytes) => rules(bytes, (n) => `/%c3%a9%e2%82%ac%7e%2a${nth(n)}`),
    path: 'é%7e'.repeat(PATH_BYTES / 9),
  },
  'random pieces of two letters': {
    file: (bytes) => randomPieces(bytes, 16, 2),
    path: characters(PATH_BYTES, 'ab'),
  },
  'periodic pieces': {
    file: (bytes) => rules(bytes, (n) => `/*${'ab'.repeat(20 + (n % 200))}c`),
    path: 'ab'.repeat(PATH_BYTES / 2),
  },
  'a star before each letter': {
    file: (bytes) => rules(bytes, (n) => `/${'*b'.repeat(20 + (n % 20))}c`),
    path: 'ab'.repeat(PATH_BYTES / 2),
  },
  'random pieces that occur, but not all': {
    file: (bytes) => randomPieces(bytes, 8, 4, '*8_0'),
    path: characters(PATH_BYTES, 'ab'),
  },
  'single letters in a row, far apart': {
    file: (bytes) => rules(bytes, (n) => `/${'*b'.repeat(380 + (n % 20))}*8_0`),
    path: `b${a(20)}`.repeat(PATH_BYTES / 21),
  },
  'pieces that grow': {
    file: (bytes) =>
      rules(
        bytes,
        (n) => `/*${Array.from({ length: 100 }, (_, size) => a(1 + size + (n % 3))).join('*')}*8_0`,
      ),
    path: A_PATH,
  },
  'one short rule that matches': { file: (bytes) => linesOf(bytes, () => 'allow:/'), path: A_PATH },
  'a number that is none': {
    file: (bytes) => encoder.encode(`User-agent: *\nCrawl-delay: ${'1'.repeat(bytes)}x\nDisallow: /a\n`),
    path: A_PATH,
  },
  'lines of one letter': { file: (bytes) => linesOf(bytes, () => 'a'), path: A_PATH },
  'lines of a short key': { file: (bytes) => linesOf(bytes, () => 'd:'), path: A_PATH },
  'empty lines': { file: (bytes) => linesOf(bytes, () => ''), path: A_PATH },
  'lines of `Crawl-delay`': { file: (bytes) => linesOf(bytes, () => 'Crawl-delay: 1'), path: A_PATH },
  'lines of `Content-Usage`': {
    file: (bytes) => linesOf(bytes, (n) => `Content-Usage: /${nth(n)} train-ai=n`),
    path: A_PATH,
  },
  'a line of parameters': {
    file: (bytes) => encoder.encode(`User-agent: *\nContent-Usage: a=b${'; c=d'.repeat(bytes / 5 - 6)}!`),
    path: A_PATH,
  },
  'lines of labels that nobody knows': {
    file: (bytes) => linesOf(bytes, (n) => `Content-Usage: ${nth(n)}=b;c`),
    path: A_PATH,
  },
  'groups of one agent each': {
    file: (bytes) => linesOf(bytes, (n) => `useragent:${nth(n)}\nallow:/`),
    path: A_PATH,
  },
  'a line of bytes above 7F': {
    file: (bytes) => rawRules(bytes, (n) => `/${characters(bytes - 30 * (n + 1), HIGH_BYTES)}`),
    path: '%E9'.repeat(PATH_BYTES / 3),
  },
  'lines of bytes above 7F': {
    file: (bytes) => rawRules(bytes, (n) => `/${HIGH_BYTES.slice(n % 97, (n % 97) + 20)}`),
    path: '%E9'.repeat(PATH_BYTES / 3),
  },
  'groups for everybody': {
    file: (bytes) => linesOf(bytes, () => 'User-agent: *\nDisallow: /x'),
    path: A_PATH,
  },
  'many groups with rules': {
    file: (bytes) =>
      linesOf(bytes, (n) => `User-agent: bot${n}\nDisallow: /private/${n % 50}\nAllow: /public\n`),
    path: A_PATH,
  },
  'rules of which few differ': {
    file: (bytes) => rules(bytes, (n) => `/some/long/shared/prefix/${n % 50}`),
    path: A_PATH,
  },
  'groups for many': {
    file: (bytes) => linesOf(bytes, (n) => `User-agent: a${nth(n)}\nDisallow: /x`),
    path: A_PATH,
  },
  'agents of one group': { file: (bytes) => linesOf(bytes, (n) => `User-agent: a${nth(n)}`), path: A_PATH },
  'control bytes': {
    file: (bytes) => linesOf(bytes, (n) => `Disallow: /${nth(n)}\0\u0001x`),
    path: A_PATH,
  },
};

/** A family made at random: rules of a few parts, some of them with a number, and a path that is made of the same. */
export function generatedFamily(seed: number): HostileFamily {
  const chance = new Chance(seed);
  const parts = ['a', 'b', 'ab', 'aab', '/', ':', '%2F', '%3a', '%41', '%C3', '%', '%4', "'", '?'];
  const own = chance.some(parts, 1 + chance.below(3));
  const unit = (): string => chance.pick(own).repeat(1 + chance.below(chance.pick([1, 4, 40])));
  const makers = [unit, unit, (): string => '*', nth];
  const shape = Array.from({ length: 1 + chance.below(5) }, () => chance.pick(makers));
  const start = chance.pick(['/', '/', '/*', '*']);
  const end = chance.pick(['', '', '$', '*8_0', '%4']);
  let path = '';
  while (path.length < PATH_BYTES) path += unit();
  return {
    file: (bytes) => rules(bytes, (index) => `${start}${shape.map((make) => make(index)).join('')}${end}`),
    path: path.slice(0, PATH_BYTES),
  };
}

/** An ordinary file of so many bytes. */
export function plainFile(bytes: number): Uint8Array {
  const chance = new Chance(5);
  const word = (): string => chance.below(36 ** 6).toString(36);
  return rules(bytes, () => `/${word()}/${word()}`);
}
