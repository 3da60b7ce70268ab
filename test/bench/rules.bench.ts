import { robotsParser } from './peer.ts';
import { parseRobots, type RobotsFile } from '../../src/core/rules/index.ts';
import { Chance } from '../support/random.ts';
import type { BenchFile } from './files.ts';
import { interleave, type Row } from './measure.ts';

const AGENT = 'ExampleBot';

const allows = (file: RobotsFile, url: string): boolean => file.check(url, AGENT).allowed;

const times = (ratio: number): string => `${ratio.toFixed(1)} ×`;

export function checking(files: readonly BenchFile[], rounds: number): Row[] {
  const questions = files.flatMap((file) => {
    const ours = parseRobots(file.bytes);
    const peer = robotsParser(`https://${file.host}/robots.txt`, file.text);
    return file.urls.map((url) => ({ url, ours, peer }));
  });
  let same = 0;
  const took = interleave(
    {
      ours: () => questions.forEach(({ ours, url }) => (same += allows(ours, url) ? 1 : 0)),
      peer: () => questions.forEach(({ peer, url }) => (same -= peer.isAllowed(url, AGENT) === true ? 1 : 0)),
    },
    rounds,
  );
  if (Math.abs(same) > questions.length / 5) throw new Error('The two disagree too much to be compared');
  const each = (ms: number): string => `${((ms / questions.length) * 1e6).toFixed(0)} ns`;
  const ratio = took.peer / took.ours;
  return [
    {
      what: `\`file.check\`, ${questions.length.toLocaleString('en')} questions`,
      ours: each(took.ours),
      peer: each(took.peer),
      ratio: times(ratio),
      bar: '≥ 8 ×',
      used: 8 / ratio,
    },
  ];
}

const randomPath = (chance: Chance): string =>
  `/${chance.below(36 ** 4).toString(36)}/${chance.below(36 ** 8).toString(36)}`;

export function ruleCounts(rounds: number): Row[] {
  const file = (count: number): string => {
    const chance = new Chance(count);
    const rules = Array.from({ length: count }, () => `Disallow: ${randomPath(chance)}\n`);
    return `User-agent: *\n${rules.join('')}`;
  };
  const counts = [10, 16_000];
  const bodies = counts.map(file);
  const urls = Array.from(
    { length: 2_000 },
    (_, index) =>
      `https://example.com/${(index * 7919).toString(36)}/${(index * 104_729).toString(36)}/page.html`,
  );
  const ours = bodies.map((body) => parseRobots(body));
  const peer = bodies.map((body) => robotsParser('https://example.com/robots.txt', body));
  const run = (index: number) => (): void => urls.forEach((url) => allows(ours[index]!, url));
  const took = interleave({ ten: run(0), all: run(1) }, rounds * 3);
  const theirs = interleave(
    { all: () => urls.slice(0, 50).forEach((url) => peer[1]!.isAllowed(url, AGENT)) },
    3,
  );
  const each = (ms: number, count = urls.length): string => `${((ms / count) * 1e6).toFixed(0)} ns`;
  return [
    {
      what: '`file.check` against many rules: 16,000',
      ours: each(took.all),
      peer: each(theirs.all, 50),
      ratio: `${times(took.all / took.ten)} of 10`,
      bar: '≤ 3 ×',
      used: took.all / took.ten / 3,
    },
  ];
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
      what: 'first answer of a file',
      ours: each(took.ours),
      peer: each(took.peer),
      ratio: times(took.peer / took.ours),
      bar: '≥ 6 ×',
      used: (6 * took.ours) / took.peer,
    },
  ];
}

/** Checks that hit 4,000 different rules of 16,000, against ones that hit 10 of 10. */
export function manyHits(rounds: number): Row[] {
  const chance = new Chance(11);
  const path = (): string => randomPath(chance);
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
      what: '`file.check` that hits 4,000 of 16,000 rules',
      ours: each(took.many),
      peer: `${each(took.few)} (10 rules)`,
      ratio: times(took.many / took.few),
      bar: '≤ 3 ×',
      used: took.many / took.few / 3,
    },
  ];
}
