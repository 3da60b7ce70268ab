import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { type RobotsStore, RobotsClient } from '../../src/index.ts';
import { redisStore } from '../../src/stores/redis/redis.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite.ts';
import { hasNodeSqlite } from '../support/sqlite.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { type BenchFile, benchFiles } from './files.ts';
import { median, type Row } from './measure.ts';

interface Opened {
  readonly store: RobotsStore;
  close(): Promise<void>;
}

type Open = () => Promise<Opened | undefined>;

/** The thread of Node's main loop, without those of libraries. */
function mainThreadMs(): number {
  const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

/** What a store adds to the time of the main thread for an origin with a real body, over a fetch without sockets. */
export async function* storeCost(rounds: number): AsyncGenerator<Row> {
  if (process.platform !== 'linux') return;
  const { files } = benchFiles();
  const library = hasNodeSqlite ? 'node:sqlite' : 'libsql';
  yield await costOf(`SQLite (${library})`, files, async () => onDisk(), rounds);
  const redis = await startRedisIfInstalled();
  if (redis === undefined) return;
  const empty = (): Promise<unknown> => redis.command('FLUSHALL');
  yield await costOf('ioredis', files, () => empty().then(() => overIoredis(redis.url)), rounds);
  yield await costOf('node-redis', files, () => empty().then(() => overNodeRedis(redis.url)), rounds);
  await redis.stop();
}

async function costOf(name: string, files: readonly BenchFile[], open: Open, rounds: number): Promise<Row> {
  const times: (readonly [bareMs: number, addedMs: number])[] = [];
  for (let round = -1; round < rounds; round++) {
    const bareMs = await realPrefetchMs(files, async () => undefined);
    const storedMs = await realPrefetchMs(files, open);
    if (round >= 0) times.push([bareMs, storedMs - bareMs]);
  }
  const [bare, added] = [0, 1].map((at) => (median(times.map((each) => each[at]!)) * 1_000) / files.length);
  return {
    what: `main-thread time that ${name} adds to an origin of ${files.length} with real files`,
    ours: `${added!.toFixed(0)} µs`,
    peer: `${bare!.toFixed(0)} µs without a store`,
    ratio: '',
    bar: name.startsWith('SQLite') ? '≤ 120 µs' : '',
    held: !name.startsWith('SQLite') || added! <= 120,
  };
}

async function realPrefetchMs(files: readonly BenchFile[], open: Open): Promise<number> {
  const opened = await open();
  let next = 0;
  const robots = new RobotsClient({
    agent: 'ExampleBot/1.0',
    cache: { maxBytes: 2 ** 30 },
    storeDeadlineMs: 60_000,
    ...(opened === undefined ? {} : { store: opened.store }),
    transport: {
      fetch: async () => new Response(Uint8Array.from(files[next++ % files.length]!.bytes)),
    },
  });
  globalThis.gc?.();
  const before = mainThreadMs();
  await robots.prefetch(files.map(({ host }) => `https://${host}/`));
  await robots.close();
  const took = mainThreadMs() - before;
  await opened?.close();
  return took;
}

async function startRedisIfInstalled(): Promise<RedisServer | undefined> {
  try {
    return await startRedis();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function onDisk(): Opened {
  const folder = mkdtempSync(join(tmpdir(), 'canfetch-bench-'));
  const store = sqliteStore({ path: join(folder, 'robots.sqlite') });
  const close = async (): Promise<void> => {
    await store.close();
    rmSync(folder, { recursive: true });
  };
  return { store, close };
}

async function overIoredis(url: string): Promise<Opened> {
  const connection = new Redis(url);
  await connection.ping();
  return { store: redisStore(connection), close: async () => connection.disconnect() };
}

async function overNodeRedis(url: string): Promise<Opened> {
  const connection = await createClient({ url }).connect();
  return { store: redisStore(connection), close: async () => connection.destroy() };
}
