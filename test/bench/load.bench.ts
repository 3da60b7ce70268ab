import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { RobotsClient } from '../../src/index.ts';
import { add, median, nothing, type Row, timed, type Took } from './measure.ts';

const ORIGINS = 10_000;
const CONCURRENCY = 32;
const USER_AGENT = 'ExampleBot/1.0';
const BAR = 1.05;

/** How many origins one of those compared asks before the next has its turn. */
const TURN = 1_000;

/** Asks cold origins with so many under way. */
interface Crawler {
  ask(origins: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const crawlers: Readonly<Record<'bare' | 'canFetch' | 'prefetch', (concurrency: number) => Crawler>> = {
  bare(concurrency) {
    const dispatcher = new Agent();
    return {
      ask: (origins) =>
        concurrently(origins, concurrency, async (origin) => {
          const { body } = await request(`${origin}/robots.txt`, {
            dispatcher,
            headers: { 'user-agent': USER_AGENT },
          });
          await body.text();
        }),
      close: () => dispatcher.destroy(),
    };
  },
  canFetch(concurrency) {
    const robots = new RobotsClient({ agent: USER_AGENT, concurrency });
    return {
      ask: (origins) =>
        concurrently(origins, concurrency, async (origin) => {
          if (!(await robots.canFetch(`${origin}/page`)))
            throw new Error(`Expected ${origin} to allow the page`);
        }),
      close: () => robots.close(),
    };
  },
  prefetch(concurrency) {
    const robots = new RobotsClient({ agent: USER_AGENT, concurrency });
    return {
      async ask(origins) {
        const { states } = await robots.prefetch(origins);
        if (states.rules !== origins.length) throw new Error('Expected all origins to have rules');
      },
      close: () => robots.close(),
    };
  },
};
const NAMES = ['bare', 'canFetch', 'prefetch'] as const;

/** Cold questions to as many origins, against the HTTP client alone that reads the same files. */
export async function* coldOrigins(rounds: number): AsyncGenerator<Row> {
  const server = fork(new URL('loopback-server.js', import.meta.url));
  const [port] = (await once(server, 'message')) as [number];
  const origins = Array.from(
    { length: ORIGINS },
    (_, index) => `http://127.1.${index >> 8}.${index & 0xff}:${port}`,
  );
  await inTurns(origins, CONCURRENCY);
  for (const concurrency of [16, 32, 256]) {
    const took: Record<(typeof NAMES)[number], Took>[] = [];
    for (let round = 0; round < rounds; round++) took.push(await inTurns(origins, concurrency));
    const seconds = (name: (typeof NAMES)[number]): string =>
      `${(median(took.map((times) => times[name].ms)) / 1_000).toFixed(2)} s`;
    for (const name of ['canFetch', 'prefetch'] as const) {
      const ratio = median(took.map((times) => times[name].ms / times.bare.ms));
      const ofProcessor = median(took.map((times) => times[name].processorMs / times.bare.processorMs));
      yield {
        what: `${ORIGINS} cold origins over loopback, \`${name}\`, ${concurrency} under way`,
        ours: seconds(name),
        peer: `${seconds('bare')} undici`,
        ratio: `${ratio.toFixed(2)} ×, processor ${ofProcessor.toFixed(2)} ×`,
        bar: `≤ ${BAR} ×`,
        held: ratio <= BAR,
      };
    }
  }
  server.disconnect();
}

/** All of them ask all origins, a thousand in turn: what else the machine does falls on all alike. */
async function inTurns(
  origins: readonly string[],
  concurrency: number,
): Promise<Record<(typeof NAMES)[number], Took>> {
  const open = NAMES.map((name) => [name, crawlers[name](concurrency)] as const);
  const took = { bare: nothing(), canFetch: nothing(), prefetch: nothing() };
  for (let start = 0; start < origins.length; start += TURN) {
    const some = origins.slice(start, start + TURN);
    for (const [name, crawler] of (start / TURN) % 2 === 0 ? open : [...open].reverse()) {
      add(took[name], await timed(() => crawler.ask(some)));
    }
  }
  for (const [name, crawler] of open) add(took[name], await timed(() => crawler.close()));
  return took;
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
  const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`;
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
export async function usedMemory(): Promise<number> {
  for (let turn = 0; turn < 5; turn++) {
    globalThis.gc?.();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
