import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { RobotsClient } from '../../src/index.ts';
import { median, type Row } from './measure.ts';

const ORIGINS = 10_000;
const CONCURRENCY = 32;
const USER_AGENT = 'ExampleBot/1.0';
const BAR = 1.05;

/** Asks so many cold origins with so many under way. */
type Ask = (origins: readonly string[], concurrency: number) => Promise<void>;

const asks: Readonly<Record<'bare' | 'canFetch' | 'prefetch', Ask>> = {
  async bare(origins, concurrency) {
    const dispatcher = new Agent();
    await concurrently(origins, concurrency, async (origin) => {
      const { body } = await request(`${origin}/robots.txt`, {
        dispatcher,
        headers: { 'user-agent': USER_AGENT },
      });
      await body.text();
    });
    await dispatcher.destroy();
  },
  async canFetch(origins, concurrency) {
    const robots = new RobotsClient({ agent: USER_AGENT, concurrency });
    await concurrently(origins, concurrency, async (origin) => {
      if (!(await robots.canFetch(`${origin}/page`))) throw new Error(`Expected ${origin} to allow the page`);
    });
    await robots.close();
  },
  async prefetch(origins, concurrency) {
    const robots = new RobotsClient({ agent: USER_AGENT, concurrency });
    const { states } = await robots.prefetch(origins);
    if (states.rules !== origins.length) throw new Error('Expected all origins to have rules');
    await robots.close();
  },
};

/** Cold questions to as many origins, against the HTTP client alone that reads the same files. */
export async function* coldOrigins(rounds: number): AsyncGenerator<Row> {
  const server = fork(new URL('loopback-server.js', import.meta.url));
  const [port] = (await once(server, 'message')) as [number];
  const origins = Array.from(
    { length: ORIGINS },
    (_, index) => `http://127.1.${index >> 8}.${index & 0xff}:${port}`,
  );
  const names = ['bare', 'canFetch', 'prefetch'] as const;
  for (const name of names) await asks[name](origins, CONCURRENCY);
  for (const concurrency of [16, 32, 256]) {
    const took: Record<(typeof names)[number], number>[] = [];
    for (let round = 0; round < rounds; round++) {
      const times = { bare: 0, canFetch: 0, prefetch: 0 };
      // In one order and in the other: what else the machine does falls on all of them.
      for (const name of round % 2 === 0 ? names : [...names].reverse()) {
        globalThis.gc?.();
        const started = performance.now();
        await asks[name](origins, concurrency);
        times[name] = performance.now() - started;
      }
      took.push(times);
    }
    const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
    for (const name of ['canFetch', 'prefetch'] as const) {
      const ratio = median(took.map((times) => times[name] / times.bare));
      yield {
        what: `${ORIGINS} cold origins over loopback, \`${name}\`, ${concurrency} under way`,
        ours: seconds(median(took.map((times) => times[name]))),
        peer: `${seconds(median(took.map((times) => times.bare)))} undici`,
        ratio: `${ratio.toFixed(2)} ×`,
        bar: `≤ ${BAR} ×`,
        held: ratio <= BAR,
      };
    }
  }
  server.disconnect();
}

async function concurrently(
  origins: readonly string[],
  concurrency: number,
  ask: (origin: string) => Promise<void>,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let origin = origins[next++]; origin !== undefined; origin = origins[next++]) await ask(origin);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

/** Origins without end through a memory with bounds: what it takes does not go on growing. Only the network is left out. */
export async function manyOrigins(count: number): Promise<Row[]> {
  const body = `User-agent: *\n${'Disallow: /a-path-like-others/\n'.repeat(30)}`;
  const robots = new RobotsClient({
    agent: USER_AGENT,
    cache: { maxOrigins: 10_000 },
    transport: { fetch: async () => new Response(body) },
  });
  let next = 0;
  const work = async (until: number): Promise<void> => {
    while (next < until) await robots.canFetch(`https://site${next++}.example/page`);
  };
  const memoryAfter = async (asked: number): Promise<number> => {
    await Promise.all(Array.from({ length: CONCURRENCY }, () => work(asked)));
    return usedMemory();
  };
  const before = await usedMemory();
  const early = (await memoryAfter(count / 10)) - before;
  const late = (await memoryAfter(count)) - before;
  const { origins } = robots.stats();
  await robots.close();
  const megabytes = (octets: number): string => `${(octets / 1_048_576).toFixed(1)} MiB`;
  return [
    {
      what: `${count} distinct origins, ${origins} remembered`,
      ours: megabytes(late),
      peer: `${megabytes(early)} after a tenth`,
      ratio: `${(late / early).toFixed(2)} ×`,
      bar: '≤ 1.1 ×',
      held: late / early <= 1.1 && origins <= 10_000,
    },
  ];
}

/** Some of what is gone is only let go of after a turn. */
async function usedMemory(): Promise<number> {
  for (let turn = 0; turn < 5; turn++) {
    globalThis.gc?.();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
