import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { fuzz } from './fuzz.ts';
import type { Corpus } from './generate.ts';

/** `npm run fuzz [seconds] [seed]`: 60 s unless told. Ends with 1 at the first input that breaks a promise. */
const seconds = Number(process.argv[2] ?? 60);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
if (!(seconds > 0) || !Number.isInteger(seed)) throw new RangeError('Expected: fuzz [seconds] [seed]');

const corpus = realFiles();
console.log(`seed ${seed}, ${seconds} s, ${corpus.length} real files to start from`);
const until = performance.now() + seconds * 1_000;
const { inputs, kinds, slowestMs } = await fuzz({ seed, corpus, goesOn: () => performance.now() < until });
console.log(`${inputs} inputs, none broke a promise; the slowest took ${slowestMs.toFixed(0)} ms`);
console.log(kinds);

/** Where a checkout has them beside it. */
function realFiles(): Corpus {
  const packed = new URL('../../../../shared/corpus/robots-4231.ndjson.gz', import.meta.url);
  if (!existsSync(packed)) return [];
  const lines = gunzipSync(readFileSync(packed)).toString('utf8').trim().split('\n');
  return lines.map((line) => Buffer.from((JSON.parse(line) as { body: string }).body, 'base64'));
}
