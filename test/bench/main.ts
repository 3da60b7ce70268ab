import { benchFiles } from './files.ts';
import { machine, print, type Row } from './measure.ts';
import { warmQuestions } from './client.bench.ts';
import { guarding } from './guard.bench.ts';
import { checking, hostile, memory, parsing, ruleCounts } from './rules.bench.ts';

/**
 * `npm run bench`: ratios against robots-parser, medians of interleaved rounds. Exits 1 when a bar is missed, so
 * that nobody has to read closely; nothing of this is a test, for machines differ.
 */
const { files, origin } = benchFiles();
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 9);
console.log(`${machine()}\n${origin}, ${rounds} rounds, medians; the peer is robots-parser 3.0.1\n`);
const rows: Row[] = [
  ...parsing(files, rounds),
  ...checking(files, rounds),
  ...(await warmQuestions(files, rounds)),
  ...ruleCounts(rounds),
  ...hostile(rounds),
  ...memory(files),
  ...(await guarding(rounds)),
];
print(rows);
if (rows.some((row) => !row.held)) process.exitCode = 1;
