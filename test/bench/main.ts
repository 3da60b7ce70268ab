import { writeFileSync } from 'node:fs';
import { type BenchFile, benchFiles } from './files.ts';
import { isHeld, lineOf, machine, type Row, tableOf } from './measure.ts';
import { command, starting } from './command.bench.ts';
import { warmQuestions } from './client.bench.ts';
import { compiledPeer } from './compiled-peer.bench.ts';
import { guarding } from './guard.bench.ts';
import { hostile } from './hostile.bench.ts';
import { importing } from './import.bench.ts';
import { coldOrigins } from './load.bench.ts';
import { clientMemory } from './memory.bench.ts';
import { checking, firstAnswers, manyHits, ruleCounts } from './rules.bench.ts';
import { service } from './service.bench.ts';
import { sizes } from './size.bench.ts';
import { storeCost } from './store-cost.bench.ts';

/*
 * `npm run bench` measures what users call, as ratios against peers in one run, and exits with 1 where a bar is missed.
 * `npm run bench -- NAME…` measures these parts alone; `npm run bench -- --write` measures all and renews `measured.md`.
 * Nothing of this is a test, because machines differ.
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
  first: part(9, function* (files, times) {
    yield* firstAnswers(files, times);
    yield* compiledPeer(files, times);
  }),
  check: part(7, checking),
  warm: part(9, warmQuestions),
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
  cold: part(2, (_, times) => coldOrigins(times)),
  'store-cost': part(3, (_, times) => storeCost(times)),
};

const WRITE = '--write';
const asked = process.argv.slice(2).filter((name) => name !== WRITE);
const names = asked.length === 0 ? Object.keys(parts) : asked;
const { files, origin } = benchFiles();
const where = `${machine()}; ${origin}`;
console.log(where);
const measured: Row[] = [];
for (const name of names) {
  const chosen = parts[name];
  if (chosen === undefined)
    throw new Error(`Expected parts of the bench (${Object.keys(parts).join(', ')}), got "${name}"`);
  console.log(`\n${name}`);
  const startedAt = performance.now();
  measured.push(...(await measure(chosen)));
  console.log(`(${((performance.now() - startedAt) / 1_000).toFixed(0)} s)`);
}
if (process.argv.includes(WRITE) && asked.length === 0) {
  const text = `# What was measured\n\nWritten by \`npm run bench -- --write\`. [How](README.md). ${where}.\n\n${tableOf(measured)}\n`;
  writeFileSync(new URL('../../../test/bench/measured.md', import.meta.url), text);
}
const noise = measured.filter(({ noisy }) => noisy === true);
const missed = measured.filter((row) => !isHeld(row) && row.noisy !== true);
console.log(
  `\n${(performance.now() / 1_000).toFixed(0)} s, bars within noise: ${noise.length}, missed: ${missed.length}`,
);
for (const row of [...noise, ...missed]) console.log(lineOf(row));
if (missed.length > 0) process.exitCode = 1;

/** A part with a missed bar is measured again: a row that holds its bar in one of the two is within the noise. */
async function measure({ rows, rounds: times }: Part): Promise<Row[]> {
  const once = async (): Promise<Row[]> => {
    const found: Row[] = [];
    for await (const row of await rows(files, times)) {
      console.log(lineOf(row));
      found.push(row);
    }
    return found;
  };
  const found = await once();
  if (found.every(isHeld)) return found;
  console.log('Again, because a bar was missed:');
  const again = await once();
  return found.map((row) => {
    const other = again.find(({ what, way }) => what === row.what && way === row.way);
    return other !== undefined && isHeld(other) !== isHeld(row) ? { ...row, noisy: true } : row;
  });
}
