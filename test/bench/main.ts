import { benchFiles } from './files.ts';
import { machine, print, printTable, type Row } from './measure.ts';
import { command } from './command.bench.ts';
import { warmQuestions } from './client.bench.ts';
import { guarding } from './guard.bench.ts';
import { importing } from './import.bench.ts';
import { coldOrigins, manyOrigins } from './load.bench.ts';
import {
  checking,
  firstAnswers,
  hostile,
  hostileFamilies,
  manyHits,
  memory,
  parsing,
  ruleCounts,
} from './rules.bench.ts';
import { service } from './service.bench.ts';
import { stores } from './store.bench.ts';

/**
 * `npm run bench`: ratios against robots-parser, medians of interleaved rounds. Exits 1 when a bar is missed, so
 * that nobody has to read closely; nothing of this is a test, for machines differ.
 */
const { files, origin } = benchFiles();
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 9);
console.log(`${machine()}\n${origin}, ${rounds} rounds, medians; the peer is robots-parser 3.0.1\n`);
const rows: Row[] = [
  ...parsing(files, rounds),
  ...firstAnswers(files, rounds),
  ...checking(files, rounds),
  ...(await warmQuestions(files, rounds)),
  ...ruleCounts(rounds),
  ...manyHits(rounds),
  ...hostile(rounds),
  ...hostileFamilies(Math.min(rounds, 5)),
  ...memory(files),
  ...importing(rounds),
  ...(await guarding(rounds)),
  ...(await service(Math.min(rounds, 5))),
  ...(await command(Math.min(rounds, 5))),
  ...(await coldOrigins(Math.min(rounds, 5))),
  ...(await manyOrigins(1_000_000)),
];
print(rows);
console.log(
  '\nstores, with the records of these files; median of one operation after the other, on loopback\n',
);
printTable(await stores(files));
if (rows.some((row) => !row.held)) process.exitCode = 1;
