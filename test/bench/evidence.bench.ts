import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { RobotsClient } from '../../src/client/index.ts';
import { evidenceFile } from '../../src/evidence/index.ts';
import { median, type Row } from './measure.ts';
import { type ProgramRun, runProgram } from './program.ts';

const DECISIONS = 300_000;
const MANY = 3;
const ORIGINS = 1_000;
const ROBOTS = 'User-agent: *\nDisallow: /private\nDisallow: /*.pdf$\n';

/** What it takes to decide a crawl again, from the file to the answer. The peer reads the same lines as JSON. */
export async function replaying(rounds: number): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'canfetch-bench-'));
  try {
    const file = join(folder, 'evidence.ndjson');
    await crawl(file);
    const took: { run: ProgramRun; parseMs: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const run = await runProgram(['replay', file], 'ignore');
      took.push({ run, parseMs: parse(await readFile(file, 'utf8')) });
    }
    const files = Array.from({ length: MANY }, () => file);
    return rowsOf(took, await runProgram(['replay', ...files], 'ignore'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function crawl(path: string): Promise<void> {
  const evidence = evidenceFile(path);
  const client = new RobotsClient({
    agent: 'ExampleBot',
    evidence,
    transport: { fetch: async (url) => new Response(`${ROBOTS}# ${url}`) },
  });
  for (let page = 0; page < DECISIONS; page++) {
    const path = page % 3 === 0 ? 'private' : 'articles/2026';
    await client.check(`https://site-${page % ORIGINS}.example/${path}/${page}`);
    // The disk has its turn, as between the requests of a crawl.
    if (page % 20 === 0) await setImmediate();
  }
  await client.close();
  await evidence.close();
  if (evidence.lost > 0) throw new Error(`Expected all entries to be written, lost ${evidence.lost}`);
}

function parse(text: string): number {
  const lines = text.trimEnd().split('\n');
  const started = performance.now();
  for (const line of lines) JSON.parse(line);
  return performance.now() - started;
}

function rowsOf(took: readonly { run: ProgramRun; parseMs: number }[], many: ProgramRun): Row[] {
  const ms = median(took.map(({ run }) => run.ms));
  const peak = median(took.map(({ run }) => run.peakBytes));
  const perSecond = (DECISIONS / ms) * 1_000;
  const more = (many.peakBytes - peak) / 1_048_576;
  const megabytes = (octets: number): string => `${(octets / 1_048_576).toFixed(0)} MiB`;
  return [
    {
      what: `canfetch replay FILE, ${DECISIONS} decisions about ${ORIGINS} origins`,
      ours: `${Math.round(perSecond / 1_000)},000 a second`,
      peer: `${(median(took.map(({ parseMs }) => parseMs)) / 1_000).toFixed(2)} s JSON.parse of its lines`,
      ratio: `${median(took.map(({ run, parseMs }) => run.ms / parseMs)).toFixed(1)} × its time`,
      bar: '≥ 200,000 a second',
      held: perSecond >= 200_000,
    },
    {
      what: `its memory with ${MANY} such files`,
      ours: megabytes(many.peakBytes),
      peer: `${megabytes(peak)} with one`,
      ratio: `+ ${more.toFixed(0)} MiB`,
      bar: '≤ + 50 MiB',
      held: more <= 50,
    },
  ];
}
