import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import Keyv from 'keyv';
import { createClient } from 'redis';
import { type RobotsStore, RobotsClient } from '../../src/index.ts';
import type { EmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { keyvStore } from '../../src/stores/keyv/keyv.ts';
import { lmdbStore } from '../../src/stores/lmdb/lmdb.ts';
import { redisStore } from '../../src/stores/redis/redis.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite.ts';
import { startSlowProxy } from '../fleet/slow-proxy.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { type BenchFile, benchFiles } from './files.ts';
import { loopbackOrigins } from './bulk-urls.ts';
import { median, type Row, timed, type Took } from './measure.ts';
import { startProcess } from './program.ts';

const ORIGINS = 2_000;
/** Of the stores on disk. */
const DISK_BAR = 1.3;
/** Between client and server, as in one data centre. Milliseconds. */
const DISTANCE_MS = 1;

interface Opened {
  readonly store: RobotsStore;
  close(): Promise<void>;
}

type Open = () => Promise<Opened | undefined>;

/** `prefetch` of cold origins with a new store, to the end of all writes, against `prefetch` without a store. */
export async function* storedPrefetch(rounds: number): AsyncGenerator<Row> {
  const { child, port } = await startProcess('loopback-server.js');
  const urls = loopbackOrigins(ORIGINS, port).map((origin) => `${origin}/`);
  yield* await against(urls, { LMDB: async () => onDisk(lmdbStore, '') }, 3 * rounds);
  if (isBuiltin('node:sqlite')) {
    yield* await against(urls, { SQLite: async () => onDisk(sqliteStore, 'file') }, 3 * rounds);
  }
  yield* await against(urls, { 'Keyv, in memory': async () => inKeyv() }, rounds);
  const redis = await startRedisIfInstalled();
  if (redis !== undefined) {
    const proxy = await startSlowProxy(redis.port);
    proxy.delayMs = DISTANCE_MS;
    const far = `${DISTANCE_MS} ms away`;
    const empty = (): Promise<unknown> => redis.command('FLUSHALL');
    const places: Readonly<Record<string, Open>> = {
      'Redis, ioredis': () => empty().then(() => overIoredis(redis.url, false)),
      [`Redis, ioredis, ${far}`]: () => empty().then(() => overIoredis(proxy.url, false)),
      [`Redis, ioredis with enableAutoPipelining, ${far}`]: () =>
        empty().then(() => overIoredis(proxy.url, true)),
      [`Redis, node-redis, ${far}`]: () => empty().then(() => overNodeRedis(proxy.url)),
    };
    yield* await against(urls, places, rounds);
    await proxy[Symbol.asyncDispose]();
    await redis.stop();
  }
  child.disconnect();
}

/** Each place in turn, and none before each round. */
async function against(
  urls: readonly string[],
  places: Readonly<Record<string, Open>>,
  rounds: number,
): Promise<Row[]> {
  const names = Object.keys(places);
  const took = new Map(names.map((name) => [name, [] as { bare: Took; stored: Took }[]]));
  for (let round = -2; round < rounds; round++) {
    const bare = await prefetched(urls, async () => undefined);
    for (const name of names) {
      const stored = await prefetched(urls, places[name]!);
      if (round >= 0) took.get(name)!.push({ bare, stored });
    }
  }
  return [...took].map(([name, times]) => {
    const of = (which: 'bare' | 'stored', what: keyof Took): number =>
      median(times.map((each) => each[which][what]));
    const shown = (which: 'bare' | 'stored'): string =>
      `${of(which, 'ms').toFixed(0)} ms, processor ${of(which, 'processorMs').toFixed(0)} ms`;
    const ratio = median(times.map(({ stored, bare }) => stored.ms / bare.ms));
    const ofProcessor = median(times.map(({ stored, bare }) => stored.processorMs / bare.processorMs));
    const hasBar = name === 'LMDB' || name === 'SQLite';
    return {
      what: `prefetch of ${ORIGINS} origins with ${name}`,
      ours: shown('stored'),
      peer: `${shown('bare')} without`,
      ratio: `${ratio.toFixed(2)} ×, processor ${ofProcessor.toFixed(2)} ×`,
      bar: hasBar ? `≤ ${DISK_BAR} ×` : '',
      held: !hasBar || ratio <= DISK_BAR,
    };
  });
}

async function prefetched(urls: readonly string[], open: Open): Promise<Took> {
  const opened = await open();
  const robots = new RobotsClient({
    agent: 'ExampleBot/1.0',
    ...(opened === undefined ? {} : { store: opened.store }),
  });
  globalThis.gc?.();
  const took = await timed(async () => {
    await robots.prefetch(urls);
    await robots.close();
  });
  await opened?.close();
  return took;
}

/** The thread of Node's main loop, without those of libraries. */
function mainThreadMs(): number {
  const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

/** What a store adds to the time of the main thread for an origin with a real body, over a fetch without sockets. */
export async function* storeCost(rounds: number): AsyncGenerator<Row> {
  if (process.platform !== 'linux') return;
  const { files } = benchFiles();
  yield await costOf('LMDB', files, async () => onDisk(lmdbStore, ''), rounds);
  if (isBuiltin('node:sqlite')) {
    yield await costOf('SQLite', files, async () => onDisk(sqliteStore, 'file'), rounds);
  }
  const redis = await startRedisIfInstalled();
  if (redis === undefined) return;
  const empty = (): Promise<unknown> => redis.command('FLUSHALL');
  yield await costOf('ioredis', files, () => empty().then(() => overIoredis(redis.url, false)), rounds);
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
    bar: name === 'LMDB' ? '≤ 120 µs' : '',
    held: name !== 'LMDB' || added! <= 120,
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

function onDisk(open: (options: { path: string }) => EmbeddedStore, file: string): Opened {
  const folder = mkdtempSync(join(tmpdir(), 'canfetch-bench-'));
  const store = open({ path: join(folder, file) });
  const close = async (): Promise<void> => {
    await store.close();
    rmSync(folder, { recursive: true });
  };
  return { store, close };
}

function inKeyv(): Opened {
  const keyv = new Keyv({ throwOnErrors: true });
  return { store: keyvStore(keyv), close: () => keyv.disconnect() };
}

async function overIoredis(url: string, enableAutoPipelining: boolean): Promise<Opened> {
  const connection = new Redis(url, { enableAutoPipelining });
  await connection.ping();
  return { store: redisStore(connection), close: async () => connection.disconnect() };
}

async function overNodeRedis(url: string): Promise<Opened> {
  const connection = await createClient({ url }).connect();
  return { store: redisStore(connection), close: async () => connection.destroy() };
}
