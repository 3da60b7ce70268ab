import { lint, parseRobots, usage } from '../../src/core/rules/index.ts';
import {
  generatedFamily,
  type HostileFamily,
  hostileFamilies,
  plainFile,
  urlOf,
} from '../support/hostile-files.ts';
import { type BenchFile } from './files.ts';
import { median, type Row } from './measure.ts';
import { robotsParser } from './peer.ts';

const AGENT = 'ExampleBot';
const FILE_BYTES = 500_000;
/** Families made at random, of which growth is measured alone. */
const GENERATED = 24;

/** Processor time of `run` in ms. */
function processorMs(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** What is quick is measured so often that it takes so long, within {@link MAX_ROUNDS}. */
const LEAST_MS = 60;
const MAX_ROUNDS = 30;
const UNIT_ROUNDS = 5;

/** The least of some rounds: what is measured does the same work each time, and nothing makes it shorter. */
function least(rounds: number, run: (round: number) => number): number {
  let best = Infinity;
  let sum = 0;
  for (let round = 0; round < rounds || (sum < LEAST_MS && round < MAX_ROUNDS); round++) {
    const took = run(round);
    best = Math.min(best, took);
    sum += took;
  }
  return best;
}

/** The unit of all bars: the peer's first answer of a plain file, when it is warm. */
function plainFirstAnswer(): number {
  const text = new TextDecoder().decode(plainFile(FILE_BYTES));
  const url = 'https://example.com/products/shoes/red-sneakers-42?color=red&size=42';
  return least(UNIT_ROUNDS, () =>
    processorMs(() => robotsParser('https://example.com/robots.txt', text).isAllowed(url, AGENT)),
  );
}

interface Answers {
  readonly first: number;
  readonly later: number;
}

/** Answers of files of both sizes, measured in turns. */
interface Growth {
  readonly whole: Answers;
  readonly half: Answers;
}

function answers({ file, path }: HostileFamily, rounds: number): Growth {
  const measured = [FILE_BYTES, FILE_BYTES / 2].map((bytes) => ({
    bytes: file(bytes),
    first: Infinity,
    later: Infinity,
  }));
  least(rounds, (round) => {
    let sum = 0;
    for (const each of measured) {
      const robots = parseRobots(each.bytes);
      const first = processorMs(() => robots.check(urlOf(path, round), AGENT));
      robots.check('/', AGENT);
      const later = processorMs(() => robots.check(urlOf(path, round + 1), AGENT));
      each.first = Math.min(each.first, first);
      each.later = Math.min(each.later, later);
      sum += first + later;
    }
    return sum;
  });
  const [whole, half] = measured;
  return { whole: whole!, half: half! };
}

/** What describes a whole file. */
function describing({ file, path }: HostileFamily, rounds: number): number {
  const bytes = file(FILE_BYTES);
  return least(rounds, () =>
    processorMs(() => {
      const robots = parseRobots(bytes);
      return [robots.groups, lint(robots), usage(robots, urlOf(path, 0), AGENT)];
    }),
  );
}

const milliseconds = (value: number): string => `${value.toFixed(1)} ms`;

function growthRow(name: string, { whole, half }: Growth): Row {
  const [sum, halfSum] = [whole.first + whole.later, half.first + half.later];
  const growth = sum / halfSum;
  return {
    what: `${name}: twice the file`,
    ours: milliseconds(sum),
    peer: milliseconds(halfSum),
    ratio: `${growth.toFixed(1)} ×`,
    bar: '≤ 2.5 ×',
    // What takes less than a millisecond is measured too roughly.
    held: growth <= 2.5 || sum < 1,
  };
}

/** How many real files are read first: crawlers have compiled code when they meet a hostile one. */
const REAL_FILES = 100;

function warmUp(files: readonly BenchFile[]): void {
  for (const { bytes, urls } of files.slice(0, REAL_FILES)) {
    const robots = parseRobots(bytes);
    for (const url of urls) robots.check(url, AGENT);
    void [robots.groups, lint(robots), usage(robots, urls[0] ?? '/', AGENT)];
  }
}

/**
 * Files of 500 KB that a hostile site could write, against the peer's first answer of a plain one: the unit, which no
 * change of ours moves.
 */
export function* hostile(files: readonly BenchFile[], rounds: number): Iterable<Row> {
  warmUp(files);
  // The first ones compile the peer's code.
  plainFirstAnswer();
  const units: number[] = [];
  const measured = Object.entries(hostileFamilies).map(([name, family]) => {
    // In turns with the families, because a machine that others use gets slower and faster by the minute.
    units.push(plainFirstAnswer());
    return { name, growth: answers(family, rounds + 3), described: describing(family, 3) };
  });
  const unit = median(units);
  const row = (what: string, value: number, bar: number): Row => ({
    what,
    ours: milliseconds(value),
    peer: `${milliseconds(unit)} (plain)`,
    ratio: `${(value / unit).toFixed(2)} ×`,
    bar: `≤ ${bar} ×`,
    held: value / unit <= bar,
  });
  for (const { name, growth, described } of measured) {
    yield row(`${name}: first answer`, growth.whole.first, 0.6);
    yield row(`${name}: later ones`, growth.whole.later, 0.5);
    yield row(`${name}: groups, lint and usage`, described, 4);
    yield growthRow(name, growth);
  }
  for (let seed = 1; seed <= GENERATED; seed++) {
    yield growthRow(`generated, ${seed}`, answers(generatedFamily(seed), rounds));
  }
}
