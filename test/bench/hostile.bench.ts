import { lint, parseRobots, usage } from '../../src/core/rules/index.ts';
import { cpuMs } from '../support/cpu-time.ts';
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
    cpuMs(() => robotsParser('https://example.com/robots.txt', text).isAllowed(url, AGENT)),
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
      const first = cpuMs(() => robots.check(urlOf(path, round), AGENT));
      robots.check('/', AGENT);
      const later = cpuMs(() => robots.check(urlOf(path, round + 1), AGENT));
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
    cpuMs(() => {
      const robots = parseRobots(bytes);
      return [robots.groups, lint(robots), usage(robots, urlOf(path, 0), AGENT)];
    }),
  );
}

const milliseconds = (value: number): string => `${value.toFixed(1)} ms`;

/** What one family took, and what it is held against. */
interface Figure {
  readonly family: string;
  readonly ms: number;
  readonly peerMs: number;
}

/** The family that comes nearest to the bar, or goes furthest past it. */
function worst(what: string, bar: number, figures: readonly Figure[]): Row {
  const ratioOf = ({ ms, peerMs }: Figure): number => ms / peerMs;
  const [found] = [...figures].sort((one, other) => ratioOf(other) - ratioOf(one));
  if (found === undefined) throw new Error(`Expected families for "${what}", got none`);
  const ratio = ratioOf(found);
  return {
    what: `hostile files: ${what}`,
    ours: `${milliseconds(found.ms)}: ${found.family}`,
    peer: milliseconds(found.peerMs),
    ratio: `${ratio.toFixed(2)} ×`,
    bar: `≤ ${bar} ×`,
    used: ratio / bar,
  };
}

function growthOf(family: string, { whole, half }: Growth): Figure {
  return { family, ms: whole.first + whole.later, peerMs: half.first + half.later };
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
  const peerMs = median(units);
  const against = (part: (one: (typeof measured)[number]) => number): Figure[] =>
    measured.map((one) => ({ family: one.name, ms: part(one), peerMs }));
  const growths = measured.map(({ name, growth }) => growthOf(name, growth));
  for (let seed = 1; seed <= GENERATED; seed++) {
    growths.push(growthOf(`generated, ${seed}`, answers(generatedFamily(seed), rounds)));
  }
  yield worst(
    'first answer',
    0.6,
    against(({ growth }) => growth.whole.first),
  );
  yield worst(
    'later ones',
    0.5,
    against(({ growth }) => growth.whole.later),
  );
  yield worst(
    'groups, lint and usage',
    4,
    against(({ described }) => described),
  );
  // What takes less than a millisecond is measured too roughly.
  yield worst(
    'twice the file',
    2.5,
    growths.filter(({ ms }) => ms >= 1),
  );
}
