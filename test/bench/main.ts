import { readFileSync, writeFileSync } from 'node:fs';
import { type BenchFile, benchFiles } from './files.ts';
import { machine, markdown, type Row, tableOf } from './measure.ts';
import { command } from './command.bench.ts';
import { compat } from './compat.bench.ts';
import { warmQuestions } from './client.bench.ts';
import { compiledPeer } from './compiled-peer.bench.ts';
import { guarding } from './guard.bench.ts';
import { importing } from './import.bench.ts';
import { coldOrigins, manyOrigins } from './load.bench.ts';
import { clientMemory } from './memory.bench.ts';
import {
  checking,
  describing,
  firstAnswers,
  hostile,
  hostileFamilies,
  manyHits,
  parsing,
  ruleCounts,
} from './rules.bench.ts';
import { service } from './service.bench.ts';
import { stores } from './store.bench.ts';
import { storedPrefetch } from './stored-prefetch.bench.ts';

/*
 * `npm run bench` measures what users call, as ratios against peers in one run, and exits with 1 where a bar is missed.
 * `npm run bench -- NAME…` measures these parts alone; with `--readme` the README gets the table. Nothing of this is a test, because machines differ.
 */
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 9);
const fewRounds = Math.min(rounds, 5);

type Part = (files: readonly BenchFile[]) => readonly Row[] | Promise<readonly Row[]>;
const parts: Readonly<Record<string, Part>> = {
  parse: (files) => parsing(files, rounds),
  first: (files) => [...firstAnswers(files, rounds), ...compiledPeer(files, rounds)],
  check: (files) => checking(files, rounds),
  warm: (files) => warmQuestions(files, rounds),
  compat: (files) => compat(files, rounds),
  rules: () => [...ruleCounts(rounds), ...manyHits(rounds)],
  hostile: () => [...hostile(rounds), ...hostileFamilies(fewRounds), ...describing(3)],
  memory: () => clientMemory(),
  import: () => importing(rounds),
  guard: () => guarding(rounds),
  service: () => service(fewRounds),
  command: () => command(fewRounds),
  cold: () => coldOrigins(fewRounds),
  stored: () => storedPrefetch(fewRounds),
  many: () => manyOrigins(1_000_000),
};
const STORES = 'stores';

const README = new URL('../../../test/bench/README.md', import.meta.url);
const TO_README = '--readme';

const asked = process.argv.slice(2).filter((name) => name !== TO_README);
const names = asked.length === 0 ? [...Object.keys(parts), STORES] : asked;
const unknown = names.find((name) => name !== STORES && !Object.hasOwn(parts, name));
if (unknown !== undefined) {
  throw new Error(
    `Expected parts of the bench (${[...Object.keys(parts), STORES].join(', ')}), got "${unknown}"`,
  );
}

const { files, origin } = benchFiles();
const rows: Row[] = [];
for (const name of names) rows.push(...((await parts[name]?.(files)) ?? []));
const measured = [
  `${machine()}; ${origin}; medians of ${rounds} rounds at most; the peer is robots-parser 3.0.1 unless another is named.`,
  tableOf(rows),
];
if (names.includes(STORES)) {
  measured.push(
    'Stores, with the records of these files; median of one operation after the other, on loopback:',
    markdown(await stores(files)),
  );
}
console.log(measured.join('\n\n'));
if (process.argv.includes(TO_README)) {
  const text = readFileSync(README, 'utf8');
  const table = /(<!-- measured -->\n).*(\n<!-- end -->)/s;
  writeFileSync(
    README,
    text.replace(table, (_, start: string, end: string) => `${start}\n${measured.join('\n\n')}\n${end}`),
  );
}
if (rows.some((row) => !row.held)) process.exitCode = 1;
