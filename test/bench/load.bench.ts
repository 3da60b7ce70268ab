import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { RobotsClient } from '../../src/index.ts';
import { median, type Row } from './measure.ts';

const ORIGINS = 10_000;
/** What a client has under way at most, unless told otherwise. */
const CONCURRENCY = 32;
const USER_AGENT = 'ExampleBot/1.0';

/** Cold questions to as many origins, against the HTTP client alone that reads the same files. */
export async function coldOrigins(rounds: number): Promise<Row[]> {
  const server = fork(new URL('loopback-server.js', import.meta.url));
  const [port] = (await once(server, 'message')) as [number];
  const origins = loopbackOrigins(port);
  const bare = async (): Promise<number> => {
    const dispatcher = new Agent();
    const took = await timed(origins, async (origin) => {
      const { body } = await request(`${origin}/robots.txt`, {
        dispatcher,
        headers: { 'user-agent': USER_AGENT },
      });
      await body.text();
    });
    await dispatcher.destroy();
    return took;
  };
  const client = async (): Promise<number> => {
    const robots = new RobotsClient({ agent: USER_AGENT });
    const took = await timed(origins, async (origin) => {
      if (!(await robots.canFetch(`${origin}/page`))) throw new Error(`Expected ${origin} to allow the page`);
    });
    await robots.close();
    return took;
  };
  await bare();
  await client();
  const took: { bare: number; client: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    // Now one first and now the other: what else the machine does falls on both.
    const [one, other] = round % 2 === 0 ? ([bare, client] as const) : ([client, bare] as const);
    const times = [await one(), await other()] as const;
    took.push(round % 2 === 0 ? { bare: times[0], client: times[1] } : { bare: times[1], client: times[0] });
  }
  server.disconnect();
  const ratio = median(took.map((each) => each.client / each.bare));
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
  return [
    {
      what: `${ORIGINS} cold origins over loopback`,
      ours: seconds(median(took.map((each) => each.client))),
      peer: `${seconds(median(took.map((each) => each.bare)))} undici`,
      ratio: `${ratio.toFixed(2)} ×`,
      bar: '≤ 1.15 ×',
      held: ratio <= 1.15,
    },
  ];
}

function loopbackOrigins(port: number): string[] {
  return Array.from({ length: ORIGINS }, (_, index) => `http://127.1.${index >> 8}.${index & 0xff}:${port}`);
}

async function timed(origins: readonly string[], ask: (origin: string) => Promise<void>): Promise<number> {
  const started = performance.now();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let origin = origins[next++]; origin !== undefined; origin = origins[next++]) await ask(origin);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return performance.now() - started;
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
