import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { RobotsClient } from '../../src/core/client/index.ts';
import { evidenceFile, replay } from '../../src/extras/evidence/index.ts';
import { median, type Row } from './measure.ts';
import { runProgram } from './program.ts';

const DECISIONS = 300_000;
const MANY = 3;
const ORIGINS = 1_000;
const ROBOTS = 'User-agent: *\nDisallow: /private\nDisallow: /*.pdf$\n';

/** What it takes to decide a crawl again. The peer reads the same lines as JSON. */
export async function replaying(rounds: number): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'canfetch-bench-'));
  try {
    const file = join(folder, 'evidence.ndjson');
    await crawl(file);
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const took: { replayMs: number; parseMs: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const replayMs = await processorMs(() => replay(lines));
      const parseMs = await processorMs(() => lines.forEach((line) => JSON.parse(line)));
      took.push({ replayMs, parseMs });
    }
    const [one, many] = [[file], Array.from({ length: MANY }, () => file)];
    const peak = async (files: readonly string[]): Promise<number> =>
      (await runProgram(['replay', ...files], 'ignore')).peakBytes;
    return rowsOf(took, await peak(one), await peak(many));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function crawl(path: string): Promise<void> {
  const evidence = await evidenceFile(path);
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

/** Processor time of this process: what others do on the machine does not add to it. */
async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function rowsOf(
  took: readonly { readonly replayMs: number; readonly parseMs: number }[],
  peak: number,
  peakOfMany: number,
): Row[] {
  const perSecond = (DECISIONS / median(took.map(({ replayMs }) => replayMs))) * 1_000;
  const parseMs = median(took.map((each) => each.parseMs));
  const more = (peakOfMany - peak) / 1_048_576;
  const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(0)} MiB`;
  return [
    {
      what: `replay(lines), ${DECISIONS} decisions about ${ORIGINS} origins, processor time`,
      ours: `${Math.round(perSecond / 1_000)},000 a second`,
      peer: `${(parseMs / 1_000).toFixed(2)} s JSON.parse of the lines`,
      ratio: `${median(took.map((each) => each.replayMs / each.parseMs)).toFixed(1)} × its time`,
      bar: '≥ 200,000 a second',
      held: perSecond >= 200_000,
    },
    {
      what: `canfetch replay: its memory with ${MANY} such files`,
      ours: megabytes(peakOfMany),
      peer: `${megabytes(peak)} with one`,
      ratio: `+ ${more.toFixed(0)} MiB`,
      bar: '≤ + 50 MiB',
      held: more <= 50,
    },
  ];
}
