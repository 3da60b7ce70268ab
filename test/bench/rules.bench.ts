import { robotsParser } from './peer.ts';
import { parseRobots } from '../../src/rules/index.ts';
import { LocatedUrl, locate } from '../../src/url/origin.ts';
import type { RobotsFile } from '../../src/rules/file.ts';
import { type BenchFile, random } from './files.ts';
import { interleave, type Row } from './measure.ts';

const AGENT = 'ExampleBot';
const located = new LocatedUrl();

/** The boolean answer of a file to a URL, as the client asks for it. */
function allows(file: RobotsFile, url: string): boolean {
  locate(url, located);
  const program = file.rulesetFor(AGENT);
  const rule = file.decideUrl(program, located);
  return rule < 0 || program.isAllow(rule);
}

const times = (ratio: number): string => `${ratio.toFixed(1)} ×`;

export function parsing(files: readonly BenchFile[], rounds: number): Row[] {
  const megabytes = files.reduce((sum, file) => sum + file.bytes.length, 0) / 1e6;
  const peer = files.map(
    (file) => [`https://${file.host}/robots.txt`, file.text, file.bytes, `https://${file.host}/`] as const,
  );
  const took = interleave(
    {
      parse: () => peer.forEach(([, , bytes]) => parseRobots(bytes)),
      compile: () => peer.forEach(([, , bytes]) => parseRobots(bytes).rulesetFor(AGENT)),
      answer: () => peer.forEach(([, , bytes, url]) => allows(parseRobots(bytes), url)),
      peer: () => peer.forEach(([url, text]) => robotsParser(url, text)),
      peerAnswer: () =>
        peer.forEach(([robotsUrl, text, , url]) => robotsParser(robotsUrl, text).isAllowed(url, AGENT)),
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
  return [
    row('parse', took.parse, took.peer, 6),
    row('parse, and compile for one agent', took.compile, took.peer, 0),
    row('parse, compile and answer one question', took.answer, took.peerAnswer, 0),
  ];
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
    compare('check a URL, site by site', bySite, 12),
    compare('check a URL, sites in random order', shuffled, 0),
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

/** Octets of heap and buffers that parsed files hold beside their bodies. Needs `--expose-gc`. */
export function memory(files: readonly BenchFile[]): Row[] {
  const { gc } = globalThis;
  if (gc === undefined) return [];
  const used = (): number => {
    gc();
    gc();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const bodies = files.reduce((sum, file) => sum + file.bytes.length, 0);
  const before = used();
  const held = files.map((file) => {
    const parsed = parseRobots(Uint8Array.prototype.slice.call(file.bytes));
    allows(parsed, file.urls[0]!);
    return parsed;
  });
  const after = used();
  const budget = bodies * 1.3 + held.length * 1024;
  return [
    {
      what: `memory of ${held.length} parsed files, compiled for one agent`,
      ours: `${((after - before) / 1e6).toFixed(1)} MB`,
      peer: `${(bodies / 1e6).toFixed(1)} MB of bodies`,
      ratio: `${(((after - before) / budget) * 100).toFixed(0)} % of budget`,
      bar: '≤ 1.3 × + 1 KiB',
      held: after - before <= budget,
    },
  ];
}
