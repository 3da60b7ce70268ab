import { Worker } from 'node:worker_threads';
import { Agent, request } from 'undici';
import { guardFetch, RobotsClient } from '../../src/index.ts';
import { robotsInterceptor } from '../../src/guard/undici.ts';
import { type Row } from './measure.ts';

/** A site in a thread of its own, so that what it does is not measured. */
const SITE = `
const { parentPort } = require('node:worker_threads');
const page = Buffer.from('<!doctype html><title>page</title>'.repeat(60));
const server = require('node:http').createServer((request, response) => {
  if (request.url === '/robots.txt') response.end('User-agent: *\\nDisallow: /private\\nDisallow: /*.pdf$\\n');
  else response.writeHead(200, { 'content-type': 'text/html' }).end(page);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/** Requests in a block. */
const BLOCK = 32;
/** Requests that a crawler has under way at a time. */
const CONCURRENCY = 16;

/** What a guard adds to an allowed request to an origin that is known. */
export async function guarding(rounds: number): Promise<Row[]> {
  const site = new Worker(SITE, { eval: true });
  const port = await new Promise<number>((resolve) => site.once('message', resolve));
  const origin = `http://127.0.0.1:${port}`;
  const agent = new Agent();
  const client = new RobotsClient({ agent: 'ExampleBot/1.0' });
  await client.prefetch([origin]);
  const guarded = guardFetch(fetch, client);
  // What `compose` itself costs is undici's.
  const plain = agent.compose((dispatch) => (options, handler) => dispatch(options, handler));
  const composed = agent.compose(robotsInterceptor(client));
  const url = (index: number): string => `${origin}/catalogue/page-${index}.html?from=index`;

  const text = async (send: typeof fetch, index: number): Promise<unknown> => (await send(url(index))).text();
  const rows: Row[] = [];
  for (const together of [1, CONCURRENCY]) {
    rows.push(
      await compare(
        { rounds, together, what: 'guardFetch', bar: 1.03 },
        (index) => text(fetch, index),
        (index) => text(guarded, index),
      ),
      await compare(
        { rounds, together, what: 'undici with the interceptor' },
        async (index) => (await request(url(index), { dispatcher: plain })).body.text(),
        async (index) => (await request(url(index), { dispatcher: composed })).body.text(),
      ),
    );
  }
  await client.close();
  await agent.close();
  await site.terminate();
  return rows;
}

interface Comparison {
  readonly rounds: number;
  readonly what: string;
  /** Requests under way at a time. */
  readonly together: number;
  readonly bar?: number;
}

async function compare(
  { rounds, what, together, bar = Number.POSITIVE_INFINITY }: Comparison,
  plain: (index: number) => Promise<unknown>,
  guarded: (index: number) => Promise<unknown>,
): Promise<Row> {
  const block = async (send: (index: number) => Promise<unknown>): Promise<number> => {
    const started = performance.now();
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < BLOCK) await send(next++);
    };
    await Promise.all(Array.from({ length: together }, work));
    return performance.now() - started;
  };
  for (let warm = 0; warm < 20; warm++) await block(warm % 2 === 0 ? plain : guarded);
  const took = { plain: [] as number[], guarded: [] as number[] };
  // Short blocks side by side, now one first and now the other: what else the machine does falls on both.
  for (let round = 0; round < rounds * 24; round++) {
    const order = round % 2 === 0 ? (['plain', 'guarded'] as const) : (['guarded', 'plain'] as const);
    for (const name of order) took[name].push(await block(name === 'plain' ? plain : guarded));
  }
  const each = (ms: number): string => `${((ms / BLOCK) * 1000).toFixed(0)} µs`;
  // The quarter that was disturbed least tells what the work itself takes.
  const [bare, with_] = [quartile(took.plain), quartile(took.guarded)];
  const ratio = with_ / bare;
  return {
    what: `an allowed page over loopback, ${what}, ${together} at a time`,
    ours: each(with_),
    peer: `${each(bare)} without`,
    ratio: `${((ratio - 1) * 100).toFixed(1)} % more`,
    bar: Number.isFinite(bar) ? `≤ ${((bar - 1) * 100).toFixed(0)} %` : '',
    held: ratio <= bar,
  };
}

function quartile(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 2] ?? Number.NaN;
}
