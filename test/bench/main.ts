import { readFileSync, writeFileSync } from 'node:fs';
import { type BenchFile, benchFiles } from './files.ts';
import { machine, markdown, type Row } from './measure.ts';
import { command, starting } from './command.bench.ts';
import { compat } from './compat.bench.ts';
import { warmQuestions } from './client.bench.ts';
import { compiledPeer } from './compiled-peer.bench.ts';
import { replaying } from './evidence.bench.ts';
import { guarding } from './guard.bench.ts';
import { hostile } from './hostile.bench.ts';
import { importing } from './import.bench.ts';
import { coldOrigins, manyOrigins } from './load.bench.ts';
import { clientMemory } from './memory.bench.ts';
import { lineOf, type MeasuredPart, quoted, renewed, rewritten, sectionOf, withNoise } from './report.ts';
import { queues } from './queue.bench.ts';
import { checking, firstAnswers, manyHits, parsing, ruleCounts } from './rules.bench.ts';
import { service } from './service.bench.ts';
import { sizes } from './size.bench.ts';
import { stores } from './store.bench.ts';
import { millionHosts } from './million.bench.ts';
import { storeCost, storedPrefetch } from './stored-prefetch.bench.ts';

/*
 * `npm run bench` measures what users call, as ratios against peers in one run, and exits with 1 where a bar is missed.
 * `npm run bench -- NAME…` measures these parts alone; with `--write` the pages get what was measured. Nothing of this is
 * a test, because machines differ.
 */
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 9);

type Rows = Iterable<Row> | AsyncIterable<Row> | Promise<Iterable<Row>>;
interface Part {
  readonly rounds: number;
  readonly rows: (files: readonly BenchFile[], rounds: number) => Rows;
}
/** All parts together end within ten minutes: those with long rounds have few of them. */
const part = (most: number, rows: Part['rows']): Part => ({ rows, rounds: Math.min(rounds, most) });

const parts: Readonly<Record<string, Part>> = {
  parse: part(9, parsing),
  first: part(9, function* (files, times) {
    yield* firstAnswers(files, times);
    yield* compiledPeer(files, times);
  }),
  check: part(7, checking),
  warm: part(9, warmQuestions),
  compat: part(3, compat),
  rules: part(9, function* (_, times) {
    yield* ruleCounts(times);
    yield* manyHits(times);
  }),
  hostile: part(3, hostile),
  memory: part(1, () => clientMemory()),
  size: part(1, () => sizes()),
  import: part(9, (_, times) => importing(times)),
  guard: part(9, (_, times) => guarding(times)),
  service: part(3, (_, times) => service(times)),
  start: part(5, (_, times) => starting(3 * times)),
  command: part(3, (_, times) => command(times)),
  replay: part(3, (_, times) => replaying(times)),
  cold: part(2, (_, times) => coldOrigins(times)),
  stored: part(3, (_, times) => storedPrefetch(times)),
  'store-cost': part(3, (_, times) => storeCost(times)),
  queues: part(5, (_, times) => queues(times)),
  many: part(1, () => manyOrigins(300_000)),
  million: part(1, () => millionHosts(Number(process.env['HOSTS'] ?? 1_000_000))),
};
/** Its table is in the guide of stores. */
const STORES = 'stores';
/** The parts that ask about the files. */
const WITH_FILES: ReadonlySet<string> = new Set([
  'parse',
  'first',
  'check',
  'warm',
  'compat',
  'hostile',
  'memory',
]);
const order = Object.keys(parts);

const page = (path: string): URL => new URL(`../../../${path}`, import.meta.url);
const pages = {
  first: page('README.md'),
  tables: page('test/bench/measured.md'),
  stores: page('src/stores/README.md'),
};
const WRITE = '--write';
const writes = process.argv.includes(WRITE);

const asked = process.argv.slice(2).filter((name) => name !== WRITE);
const names = asked.length === 0 ? [...order, STORES] : asked;
const unknown = names.find((name) => name !== STORES && !order.includes(name));
if (unknown !== undefined) {
  throw new Error(`Expected parts of the bench (${order.join(', ')}, ${STORES}), got "${unknown}"`);
}

const { files, origin } = benchFiles();
console.log(`${machine()}; ${origin}`);
const measured: MeasuredPart[] = [];
const all: Row[] = [];
for (const name of names) {
  console.log(`\n${name}`);
  const startedAt = performance.now();
  await (name === STORES ? measureStores() : measurePart(name));
  console.log(`(${((performance.now() - startedAt) / 1_000).toFixed(0)} s)`);
}
if (writes) {
  edit(pages.tables, (text) => renewed(text, measured, order));
  edit(pages.first, (text) => quoted(text, all));
}
const noise = all.filter(({ noisy }) => noisy === true);
const missed = all.filter(({ held, noisy }) => !held && noisy !== true);
console.log(
  `\n${(performance.now() / 1_000).toFixed(0)} s, bars within noise: ${noise.length}, missed: ${missed.length}`,
);
for (const row of [...noise, ...missed]) console.log(lineOf(row));
if (missed.length > 0) process.exitCode = 1;

async function measurePart(name: string): Promise<void> {
  const { rows, rounds: times } = parts[name]!;
  const measure = async (): Promise<Row[]> => {
    const found: Row[] = [];
    for await (const row of await rows(files, times)) {
      console.log(lineOf(row));
      found.push(row);
    }
    return found;
  };
  let found = await measure();
  if (found.some(({ held }) => !held)) {
    console.log('Again, because a bar was missed:');
    found = withNoise(found, await measure());
  }
  all.push(...found);
  const where = WITH_FILES.has(name) ? `${machine()}; ${origin}` : machine();
  measured.push(sectionOf(name, `${where}; ${times} ${times === 1 ? 'round' : 'rounds'}.`, found));
}

async function measureStores(): Promise<void> {
  const table: string[][] = [];
  for await (const cells of stores(files)) {
    console.log(cells.join(' · '));
    table.push(cells);
  }
  if (writes) edit(pages.stores, (text) => rewritten(text, () => markdown(table)));
}

function edit(file: URL, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}
