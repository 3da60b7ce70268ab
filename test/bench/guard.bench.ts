import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evidenceFile } from '../../src/extras/evidence/index.ts';
import { guardFetch, RobotsClient } from '../../src/index.ts';
import { median, type Row } from './measure.ts';
import { startProcess } from './program.ts';

/** Requests in a block. */
const BLOCK = 32;
/** Requests that a crawler has under way at a time. */
const CONCURRENCY = 16;
const AGENT = 'ExampleBot/1.0';
const named = { headers: { 'user-agent': AGENT } };

/**
 * What a guard adds to an allowed request to an origin that is known, in processor time: with 16 requests at a time the
 * processor is what they wait for.
 */
export async function* guarding(rounds: number): AsyncGenerator<Row> {
  // In a process of its own, so that what it does is not measured. Crawlers ask for names, not for addresses.
  const site = await startProcess('page-server.js');
  const origin = `http://localhost:${site.port}`;
  const client = new RobotsClient({ agent: AGENT });
  await client.prefetch([origin]);
  const guarded = guardFetch(fetch, client);
  const paced = guardFetch(fetch, client, { pacing: { defaultDelayMs: 0, concurrency: CONCURRENCY } });
  const folder = await mkdtemp(join(tmpdir(), 'canfetch-bench-'));
  const evidence = await evidenceFile(join(folder, 'evidence.ndjson'));
  const recording = new RobotsClient({ agent: AGENT, evidence });
  await recording.prefetch([origin]);
  const recorded = guardFetch(fetch, recording);
  const url = (index: number): string => `${origin}/catalogue/page-${index}.html?from=index`;

  const text = async (response: Promise<Response>): Promise<unknown> => (await response).text();
  for (const together of [1, CONCURRENCY]) {
    // The guard sends a `User-Agent`, as crawlers have to. So does the fetch beside it.
    yield await compare(
      { rounds, together, what: '`guardFetch`', bar: 1.04 },
      (index) => text(fetch(url(index), named)),
      (index) => text(guarded(url(index))),
    );
    yield await compare(
      { rounds, together, what: 'its `pacing`, without a wait', bar: 1.08 },
      (index) => text(guarded(url(index))),
      (index) => text(paced(url(index))),
    );
    yield await compare(
      { rounds, together, what: 'its `evidence`, in a file', bar: 1.12 },
      (index) => text(guarded(url(index))),
      (index) => text(recorded(url(index))),
    );
  }
  await client.close();
  await recording.close();
  await evidence.close();
  await rm(folder, { recursive: true });
  site.child.disconnect();
}

interface Comparison {
  readonly rounds: number;
  readonly what: string;
  /** Requests under way at a time. */
  readonly together: number;
  readonly bar: number;
}

async function compare(
  { rounds, what, together, bar }: Comparison,
  plain: (index: number) => Promise<unknown>,
  guarded: (index: number) => Promise<unknown>,
): Promise<Row> {
  const block = async (send: (index: number) => Promise<unknown>): Promise<number> => {
    const started = process.cpuUsage();
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < BLOCK) await send(next++);
    };
    await Promise.all(Array.from({ length: together }, work));
    const { user, system } = process.cpuUsage(started);
    return user + system;
  };
  // The engine compiles a function well only after some thousands of calls.
  for (let warm = 0; warm < 200; warm++) await block(warm % 2 === 0 ? plain : guarded);
  const took = { plain: [] as number[], guarded: [] as number[] };
  // Short blocks side by side, now one first and now the other: what else the machine does falls on both.
  for (let round = 0; round < rounds * 40; round++) {
    const order = round % 2 === 0 ? (['plain', 'guarded'] as const) : (['guarded', 'plain'] as const);
    for (const name of order) took[name].push(await block(name === 'plain' ? plain : guarded));
  }
  const each = (microseconds: number): string => `${(microseconds / BLOCK).toFixed(0)} µs`;
  const [bare, with_] = [median(took.plain), median(took.guarded)];
  // Of pairs that ran one after the other, because the speed of a shared machine drifts.
  const ratio = median(took.guarded.map((micros, round) => micros / (took.plain[round] ?? Number.NaN)));
  return {
    what: `an allowed page through ${what}`,
    way: `${together} at a time`,
    ours: each(with_),
    peer: `${each(bare)} without`,
    ratio: `${((ratio - 1) * 100).toFixed(1)} % more`,
    bar: `≤ ${((bar - 1) * 100).toFixed(0)} %`,
    used: (ratio - 1) / (bar - 1),
  };
}
