import { robotsParser } from './peer.ts';
import { lint, parseRobots, type RobotsFile, usage } from '../../src/rules/index.ts';
import { type BenchFile, random } from './files.ts';
import { interleave, type Row } from './measure.ts';

const AGENT = 'ExampleBot';

const allows = (file: RobotsFile, url: string): boolean => file.check(url, AGENT).allowed;

const times = (ratio: number): string => `${ratio.toFixed(1)} ×`;

export function parsing(files: readonly BenchFile[], rounds: number): Row[] {
  const megabytes = files.reduce((sum, file) => sum + file.bytes.length, 0) / 1e6;
  const peer = files.map((file) => [`https://${file.host}/robots.txt`, file.text, file.bytes] as const);
  const took = interleave(
    {
      parse: () => peer.forEach(([, , bytes]) => parseRobots(bytes)),
      peer: () => peer.forEach(([url, text]) => robotsParser(url, text)),
    },
    rounds,
  );
  const speed = (ms: number): string => `${((megabytes / ms) * 1000).toFixed(0)} MB/s`;
  const row = (what: string, ours: number, theirs: number, bar: number): Row => ({
    what,
    ours: speed(ours),
    peer: speed(theirs),
    ratio: times(theirs / ours),
    bar: bar === 0 ? '' : `≥ ${bar} ×`,
    held: theirs / ours >= bar,
  });
  return [row('parse', took.parse, took.peer, 6)];
}

export function checking(files: readonly BenchFile[], rounds: number): Row[] {
  const bySite = files.flatMap((file) => {
    const ours = parseRobots(file.bytes);
    const peer = robotsParser(`https://${file.host}/robots.txt`, file.text);
    return file.urls.map((url) => ({ url, ours, peer }));
  });
  const next = random(3);
  const shuffled = [...bySite];
  for (let at = shuffled.length - 1; at > 0; at--) {
    const other = Math.floor(next() * (at + 1));
    [shuffled[at], shuffled[other]] = [shuffled[other]!, shuffled[at]!];
  }
  const compare = (what: string, questions: typeof bySite, bar: number): Row => {
    let same = 0;
    const took = interleave(
      {
        ours: () => questions.forEach(({ ours, url }) => (same += allows(ours, url) ? 1 : 0)),
        peer: () =>
          questions.forEach(({ peer, url }) => (same -= peer.isAllowed(url, AGENT) === true ? 1 : 0)),
      },
      rounds,
    );
    if (Math.abs(same) > questions.length / 5) throw new Error('The two disagree too much to be compared');
    const each = (ms: number): string => `${((ms / questions.length) * 1e6).toFixed(0)} ns`;
    const ratio = took.peer / took.ours;
    return {
      what: `${what} (${questions.length.toLocaleString('en')} questions)`,
      ours: each(took.ours),
      peer: each(took.peer),
      ratio: times(ratio),
      bar: bar === 0 ? '' : `≥ ${bar} ×`,
      held: ratio >= bar,
    };
  };
  return [
    compare('`file.check(url, agent)`, site by site', bySite, 10),
    compare('`file.check(url, agent)`, sites in random order', shuffled, 0),
  ];
}

export function ruleCounts(rounds: number): Row[] {
  const file = (count: number): string => {
    const next = random(count);
    const rules = Array.from(
      { length: count },
      () =>
        `Disallow: /${Math.floor(next() * 36 ** 4).toString(36)}/${Math.floor(next() * 36 ** 8).toString(36)}\n`,
    );
    return `User-agent: *\n${rules.join('')}`;
  };
  const counts = [10, 100, 1_000, 16_000];
  const bodies = counts.map(file);
  const urls = Array.from(
    { length: 2_000 },
    (_, index) =>
      `https://example.com/${(index * 7919).toString(36)}/${(index * 104_729).toString(36)}/page.html`,
  );
  const ours = bodies.map((body) => parseRobots(body));
  const peer = bodies.map((body) => robotsParser('https://example.com/robots.txt', body));
  const run = (index: number) => (): void => urls.forEach((url) => allows(ours[index]!, url));
  const took = interleave({ ten: run(0), hundred: run(1), thousand: run(2), all: run(3) }, rounds * 3);
  const theirs = interleave(
    { all: () => urls.slice(0, 50).forEach((url) => peer[3]!.isAllowed(url, AGENT)) },
    3,
  );
  const each = (ms: number, count = urls.length): string => `${((ms / count) * 1e6).toFixed(0)} ns`;
  const row = (count: number, ms: number): Row => ({
    what: `check against ${count.toLocaleString('en')} prefix rules`,
    ours: each(ms),
    peer: count === 16_000 ? each(theirs.all, 50) : '',
    ratio: `${times(ms / took.ten)} of 10`,
    bar: '≤ 3 ×',
    held: ms / took.ten <= 3,
  });
  return [row(10, took.ten), row(100, took.hundred), row(1_000, took.thousand), row(16_000, took.all)];
}

export function hostile(rounds: number): Row[] {
  const line = (index: number): string => `Disallow: /${'*a'.repeat(500 - (index % 5))}*b\n`;
  const body = `User-agent: *\n${Array.from({ length: 490 }, (_, index) => line(index)).join('')}`;
  const path = 'a'.repeat(8_000);
  const url = `https://example.com/${path}`;
  // The same with a path that has the last octet, but too early.
  const early = `https://example.com/b${path}`;
  const ours = parseRobots(body);
  const peer = robotsParser('https://example.com/robots.txt', body);
  const took = interleave(
    { ours: () => void allows(ours, url), early: () => void allows(ours, early) },
    rounds,
  );
  const theirs = interleave({ peer: () => void peer.isAllowed(url, AGENT) }, 1);
  const row = (what: string, ms: number): Row => ({
    what,
    ours: `${ms.toFixed(2)} ms`,
    peer: `${theirs.peer.toFixed(0)} ms`,
    ratio: times(theirs.peer / ms),
    bar: '≤ 20 ms',
    held: ms <= 20,
  });
  const kilobytes = (body.length / 1000).toFixed(0);
  return [
    row(`${kilobytes} KB of 500-star rules, path of 8,000 octets`, took.ours),
    row('the same, the path holding every octet of the rules', took.early),
  ];
}

const encoder = new TextEncoder();
const FILE_BYTES = 500_000;
const PATH_OCTETS = 8_000;

/** A file of so many bytes, of rules with patterns that differ. */
function fileOf(bytes: number, pattern: (index: number) => string): Uint8Array {
  const lines = ['User-agent: *\n'];
  for (let index = 0, length = lines[0]!.length; length < bytes; index++) {
    const line = `Disallow: ${pattern(index)}\n`;
    length += line.length;
    lines.push(line);
  }
  return encoder.encode(lines.join(''));
}

const nth = (index: number): string => index.toString(36).padStart(3, 'z');
const a = (count: number): string => 'a'.repeat(count);

/** Files that a hostile site could write, each with the start of a path that its links could have. */
const HOSTILE: Readonly<
  Record<string, { readonly file: (bytes: number) => Uint8Array; readonly path: string }>
> = {
  'pieces that nearly fit': {
    file: (bytes) => fileOf(bytes, (n) => `/*${a(8)}b${nth(n)}`),
    path: a(PATH_OCTETS),
  },
  'pieces that nearly fit often': {
    file: (bytes) => fileOf(bytes, (n) => `/*${a(8)}b${nth(n)}`),
    path: `${a(30)}b`.repeat(PATH_OCTETS / 31),
  },
  'two pieces': { file: (bytes) => fileOf(bytes, (n) => `/*a*b${nth(n)}`), path: a(PATH_OCTETS) },
  'one shared prefix before a star': {
    file: (bytes) => fileOf(bytes, (n) => `/a*${nth(n)}`),
    path: a(PATH_OCTETS),
  },
  'one long shared prefix': {
    file: (bytes) => fileOf(bytes, (n) => `/${a(1_500)}${nth(n)}`),
    path: a(PATH_OCTETS),
  },
  'prefixes of each other': { file: (bytes) => fileOf(bytes, (n) => `/${a(n + 1)}`), path: a(PATH_OCTETS) },
  'escapes that fold': {
    file: (bytes) => fileOf(bytes, (n) => `/*%2F${nth(n)}`),
    path: `?${'x/y:'.repeat(PATH_OCTETS / 4)}`,
  },
  'single pieces': { file: (bytes) => fileOf(bytes, (n) => `/*${nth(n)}`), path: a(PATH_OCTETS) },
  '500 stars a rule': {
    file: (bytes) => fileOf(bytes, (n) => `/${'*a'.repeat(500 - (n % 5))}*b`),
    path: a(PATH_OCTETS),
  },
  'long pieces': { file: (bytes) => fileOf(bytes, (n) => `/*${a(4_000 - (n % 9))}b`), path: a(PATH_OCTETS) },
  'rules to be rewritten': {
    file: (bytes) => fileOf(bytes, (n) => `/%61%62${nth(n)}%2f`),
    path: a(PATH_OCTETS),
  },
  'random pieces of two letters': {
    file: (bytes) => randomPieces(bytes, 16, 2),
    path: twoLetters(PATH_OCTETS),
  },
  'periodic pieces': {
    file: (bytes) => fileOf(bytes, (n) => `/*${'ab'.repeat(20 + (n % 200))}c`),
    path: 'ab'.repeat(PATH_OCTETS / 2),
  },
  'a star before each letter': {
    file: (bytes) => fileOf(bytes, (n) => `/${'*b'.repeat(20 + (n % 20))}c`),
    path: 'ab'.repeat(PATH_OCTETS / 2),
  },
  'random pieces that occur, but not all': {
    file: (bytes) => randomPieces(bytes, 8, 4, '*8_0'),
    path: twoLetters(PATH_OCTETS),
  },
  'single letters in a row, far apart': {
    file: (bytes) => fileOf(bytes, (n) => `/${'*b'.repeat(380 + (n % 20))}*8_0`),
    path: `b${a(20)}`.repeat(PATH_OCTETS / 21),
  },
  'pieces that grow': {
    file: (bytes) =>
      fileOf(
        bytes,
        (n) => `/*${Array.from({ length: 100 }, (_, size) => a(1 + size + (n % 3))).join('*')}*8_0`,
      ),
    path: a(PATH_OCTETS),
  },
  'one short rule that fits': {
    file: (bytes) => encoder.encode(`User-agent: *\n${'allow:/\n'.repeat(bytes / 8)}`),
    path: a(PATH_OCTETS),
  },
  'lines of one letter': {
    file: (bytes) => encoder.encode(`User-agent: *\n${'a\n'.repeat(bytes / 2)}Disallow: /x\n`),
    path: a(PATH_OCTETS),
  },
  'lines of a short key': {
    file: (bytes) => encoder.encode(`User-agent: *\n${'d:\n'.repeat(bytes / 3)}Disallow: /x\n`),
    path: a(PATH_OCTETS),
  },
  'empty lines': {
    file: (bytes) => encoder.encode(`User-agent: *\n${'\n'.repeat(bytes)}Disallow: /x\n`),
    path: a(PATH_OCTETS),
  },
  'lines of `Crawl-delay`': {
    file: (bytes) => encoder.encode(`User-agent: *\n${'Crawl-delay: 1\n'.repeat(bytes / 15)}Disallow: /x\n`),
    path: a(PATH_OCTETS),
  },
  'groups for everybody': {
    file: (bytes) => encoder.encode('User-agent: *\nDisallow: /x\n'.repeat(bytes / 27)),
    path: a(PATH_OCTETS),
  },
};

/** Letters `a` and `b`: all pairs of them occur everywhere, so that nothing short excludes a piece. */
function twoLetters(count: number, next = random(23)): string {
  let letters = '';
  while (letters.length < count) letters += next() < 0.5 ? 'a' : 'b';
  return letters;
}

/** Rules of `count` pieces of so many letters each. `end` occurs in no path. */
function randomPieces(bytes: number, letters: number, count: number, end = ''): Uint8Array {
  const next = random(29);
  return fileOf(
    bytes,
    () => `/*${Array.from({ length: count }, () => twoLetters(letters, next)).join('*')}${end}`,
  );
}

/** Every octet that the rules have, where it helps none of them: what tells targets apart at a glance tells nothing. */
const EVERY_OCTET = '/9876543210_.=&-zyxwvutsrqponmlkjihgfedcba';

function plainFile(bytes: number): Uint8Array {
  const next = random(5);
  const word = (): string => Math.floor(next() * 36 ** 6).toString(36);
  return fileOf(bytes, () => `/${word()}/${word()}`);
}

/** The first answer of hostile files, later ones, and how both grow with the file. */
export function hostileFamilies(rounds: number): Row[] {
  const best = (times: readonly number[]): number => Math.min(...times);
  const time = (run: () => void): number => {
    const started = performance.now();
    run();
    return performance.now() - started;
  };
  const measure = (bytes: Uint8Array, path: string): { first: number; later: number } => {
    const firsts: number[] = [];
    const laters: number[] = [];
    for (let round = 0; round < rounds + 3; round++) {
      const url = (question: number): string => `https://example.com/${path}${EVERY_OCTET}${question}`;
      const started = performance.now();
      const file = parseRobots(bytes);
      file.check(url(0), AGENT);
      firsts.push(performance.now() - started);
      for (let question = 1; question < 3; question++) file.check(url(question), AGENT);
      laters.push(time(() => file.check(url(3), AGENT)));
    }
    return { first: best(firsts), later: best(laters) };
  };
  const plain = measure(plainFile(FILE_BYTES), a(PATH_OCTETS)).first;
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  return Object.entries(HOSTILE).flatMap(([name, { file, path }]): Row[] => {
    const whole = measure(file(FILE_BYTES), path);
    const half = measure(file(FILE_BYTES / 2), path);
    const growth = (whole.first + whole.later) / (half.first + half.later);
    const row = (what: string, value: number, bar: number): Row => ({
      what: `${name}: ${what}`,
      ours: ms(value),
      peer: `${ms(plain)} (plain)`,
      ratio: times(value / plain),
      bar: `≤ ${bar} ×`,
      held: value / plain <= bar,
    });
    return [
      row('first answer', whole.first, 4),
      row('later ones', whole.later, 2),
      {
        what: `${name}: twice the file`,
        ours: ms(whole.first + whole.later),
        peer: ms(half.first + half.later),
        ratio: times(growth),
        bar: '≤ 2.5 ×',
        held: growth <= 2.5,
      },
    ];
  });
}

/** A file with as many lines of `Content-Usage` as fit, each for a path of its own. */
const usagesFile = (bytes: number): Uint8Array =>
  encoder.encode(
    `User-agent: *\n${Array.from({ length: bytes / 34 }, (_, n) => `Content-Usage: /${nth(n)} train-ai=n\n`).join('')}`,
  );

/** What describes a whole file, against the first answer of a plain one. */
export function describing(rounds: number): Row[] {
  const files = {
    ...Object.fromEntries(Object.entries(HOSTILE).map(([name, { file }]) => [name, file(FILE_BYTES)])),
    'a plain file': plainFile(FILE_BYTES),
    'lines of `Content-Usage`': usagesFile(FILE_BYTES),
  };
  const url = `https://example.com/${a(PATH_OCTETS)}`;
  const best = (run: () => unknown): number => {
    let least = Infinity;
    for (let round = 0; round < rounds; round++) {
      const started = performance.now();
      run();
      least = Math.min(least, performance.now() - started);
    }
    return least;
  };
  const plainBytes = plainFile(FILE_BYTES);
  const plain = best(() => parseRobots(plainBytes).check(url, AGENT));
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  return Object.entries(files).flatMap(([name, bytes]) => {
    const asks = {
      groups: () => parseRobots(bytes).groups,
      lint: () => lint(parseRobots(bytes)),
      usage: () => usage(parseRobots(bytes), url, AGENT),
    };
    return Object.entries(asks).map(([what, ask]): Row => {
      const took = best(ask);
      return {
        what: `\`${what}\` of ${name}`,
        ours: ms(took),
        peer: `${ms(plain)} (first answer, plain)`,
        ratio: times(took / plain),
        bar: '≤ 20 ×',
        held: took / plain <= 20,
      };
    });
  });
}

/** One question to each file, as a broad crawl asks; the peer is robots-parser. */
export function firstAnswers(files: readonly BenchFile[], rounds: number): Row[] {
  const took = interleave(
    {
      ours: () => files.forEach(({ bytes, urls }) => parseRobots(bytes).check(urls[0]!, AGENT)),
      peer: () =>
        files.forEach(({ host, text, urls }) =>
          robotsParser(`https://${host}/robots.txt`, text).isAllowed(urls[0]!, AGENT),
        ),
    },
    rounds,
  );
  const each = (taken: number): string => `${((taken / files.length) * 1e3).toFixed(1)} µs`;
  return [
    {
      what: 'first answer: parseRobots(bytes).check(url, agent)',
      ours: each(took.ours),
      peer: each(took.peer),
      ratio: times(took.peer / took.ours),
      bar: '≥ 4 ×',
      held: took.peer / took.ours >= 4,
    },
  ];
}

/** Checks that hit 4,000 different rules of 16,000, against ones that hit 10 of 10. */
export function manyHits(rounds: number): Row[] {
  const next = random(11);
  const path = (): string =>
    `/${Math.floor(next() * 36 ** 4).toString(36)}/${Math.floor(next() * 36 ** 8).toString(36)}`;
  const file = (paths: readonly string[]): RobotsFile =>
    parseRobots(`User-agent: *\n${paths.map((each) => `Disallow: ${each}\n`).join('')}`);
  const few = Array.from({ length: 10 }, path);
  const many = Array.from({ length: 16_000 }, path);
  const [ofFew, ofMany] = [file(few), file(many)];
  const urls = (paths: readonly string[], step: number): string[] =>
    Array.from(
      { length: 4_000 },
      (_, index) => `https://example.com${paths[(index * step) % paths.length]}/x`,
    );
  const [fewUrls, manyUrls] = [urls(few, 1), urls(many, 4)];
  const took = interleave(
    {
      few: () => fewUrls.forEach((url) => ofFew.check(url, AGENT)),
      many: () => manyUrls.forEach((url) => ofMany.check(url, AGENT)),
    },
    rounds,
  );
  const each = (taken: number): string => `${((taken / 4_000) * 1e6).toFixed(0)} ns`;
  return [
    {
      what: 'check that hits 4,000 different rules of 16,000',
      ours: each(took.many),
      peer: `${each(took.few)} (10 rules)`,
      ratio: times(took.many / took.few),
      bar: '≤ 3 ×',
      held: took.many / took.few <= 3,
    },
  ];
}
