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
import { lineOf, type MeasuredPart, renewed, sectionOf } from './report.ts';
import { checking, firstAnswers, manyHits, parsing, ruleCounts } from './rules.bench.ts';
import { service } from './service.bench.ts';
import { stores } from './store.bench.ts';
import { storedPrefetch } from './stored-prefetch.bench.ts';

/*
 * `npm run bench` measures what users call, as ratios against peers in one run, and exits with 1 where a bar is missed.
 * `npm run bench -- NAME…` measures these parts alone; with `--readme` measured.md gets their tables. Nothing of this is a
 * test, because machines differ.
 */
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 9);
const fewRounds = Math.min(rounds, 5);

type Rows = Iterable<Row> | AsyncIterable<Row> | Promise<Iterable<Row>>;
interface Part {
  readonly rounds: number;
  readonly rows: (files: readonly BenchFile[], rounds: number) => Rows;
}
const part = (rows: Part['rows'], most: number = rounds): Part => ({ rows, rounds: Math.min(rounds, most) });

const parts: Readonly<Record<string, Part>> = {
  parse: part(parsing),
  first: part(function* (files, times) {
    yield* firstAnswers(files, times);
    yield* compiledPeer(files, times);
  }),
  check: part(checking),
  warm: part(warmQuestions),
  compat: part(compat),
  rules: part(function* (_, times) {
    yield* ruleCounts(times);
    yield* manyHits(times);
  }),
  hostile: part((_, times) => hostile(times), 3),
  memory: part(() => clientMemory(), 1),
  import: part((_, times) => importing(times)),
  guard: part((_, times) => guarding(times)),
  service: part((_, times) => service(times), fewRounds),
  start: part((_, times) => starting(3 * times), fewRounds),
  command: part((_, times) => command(times), fewRounds),
  replay: part((_, times) => replaying(times), fewRounds),
  cold: part((_, times) => coldOrigins(times), fewRounds),
  stored: part((_, times) => storedPrefetch(times), fewRounds),
  many: part(() => manyOrigins(1_000_000), 1),
};
const STORES = 'stores';
/** The parts that ask about the files. */
const WITH_FILES: ReadonlySet<string> = new Set(['parse', 'first', 'check', 'warm', 'compat', STORES]);
const order = [...Object.keys(parts), STORES];

const MEASURED = new URL('../../../test/bench/measured.md', import.meta.url);
const TO_README = '--readme';

const asked = process.argv.slice(2).filter((name) => name !== TO_README);
const names = asked.length === 0 ? order : asked;
const unknown = names.find((name) => !order.includes(name));
if (unknown !== undefined) {
  throw new Error(`Expected parts of the bench (${order.join(', ')}), got "${unknown}"`);
}

const { files, origin } = benchFiles();
console.log(`${machine()}; ${origin}`);
const measured: MeasuredPart[] = [];
const missed: string[] = [];
for (const name of names) {
  console.log(`\n${name}`);
  measured.push(name === STORES ? await measureStores() : await measurePart(name));
}
if (process.argv.includes(TO_README)) {
  writeFileSync(MEASURED, renewed(readFileSync(MEASURED, 'utf8'), measured, order));
}
if (missed.length > 0) {
  console.log(`\nBars that were missed:\n${missed.join('\n')}`);
  process.exitCode = 1;
}

async function measurePart(name: string): Promise<MeasuredPart> {
  const { rows, rounds: times } = parts[name]!;
  const found: Row[] = [];
  for await (const row of await rows(files, times)) {
    console.log(lineOf(row));
    if (!row.held) missed.push(lineOf(row));
    found.push(row);
  }
  return sectionOf(name, `${how(name)}; ${times} ${times === 1 ? 'round' : 'rounds'}.`, found);
}

async function measureStores(): Promise<MeasuredPart> {
  const table = [];
  for await (const cells of stores(files)) {
    console.log(cells.join(' · '));
    table.push(cells);
  }
  const way = 'with the records of these files; median of one operation after the other, on loopback.';
  return sectionOf(STORES, `${how(STORES)}; ${way}`, markdown(table));
}

function how(name: string): string {
  return WITH_FILES.has(name) ? `${machine()}; ${origin}` : machine();
}
