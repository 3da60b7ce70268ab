import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { type RobotsStore, RobotsClient } from '../../src/index.ts';
import { lmdbStore } from '../../src/store/lmdb/lmdb.ts';
import { redisStore } from '../../src/store/redis/redis.ts';
import { startSlowProxy } from '../fleet/slow-proxy.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { loopbackOrigins } from './bulk-urls.ts';
import type { Row } from './measure.ts';
import { startProcess } from './program.ts';

const ORIGINS = 2_000;
const LMDB_BAR = 1.3;
/** Between client and server, as in one data centre. Milliseconds. */
const DISTANCE_MS = 1;

interface Took {
  readonly ms: number;
  /** Of this process, all threads: what other processes do does not count. */
  readonly cpuMs: number;
}

interface Opened {
  readonly store: RobotsStore;
  close(): Promise<void>;
}

/** `prefetch` of cold origins with a new store, to the end of all writes, against `prefetch` without a store. */
export async function storedPrefetch(rounds: number): Promise<Row[]> {
  const { child, port } = await startProcess('loopback-server.js');
  const urls = loopbackOrigins(ORIGINS, port).map((origin) => `${origin}/`);
  const redis = await startRedisIfInstalled();
  const proxy = redis && (await startSlowProxy(redis.port));
  if (proxy !== undefined) proxy.delayMs = DISTANCE_MS;
  const far = `${DISTANCE_MS} ms away`;
  const places: Record<string, () => Promise<Opened | undefined>> = {
    none: async () => undefined,
    LMDB: async () => onDisk(),
  };
  if (redis !== undefined && proxy !== undefined) {
    const empty = (): Promise<unknown> => redis.command('FLUSHALL');
    places['Redis, ioredis'] = () => empty().then(() => overIoredis(redis.url, false));
    places[`Redis, ioredis, ${far}`] = () => empty().then(() => overIoredis(proxy.url, false));
    places[`Redis, ioredis with enableAutoPipelining, ${far}`] = () =>
      empty().then(() => overIoredis(proxy.url, true));
    places[`Redis, node-redis, ${far}`] = () => empty().then(() => overNodeRedis(proxy.url));
  }
  const best = new Map<string, Took>();
  for (let round = -1; round < rounds; round++) {
    for (const [name, open] of Object.entries(places)) {
      const took = await prefetched(urls, open);
      const before = round <= 0 ? took : best.get(name)!;
      best.set(name, { ms: Math.min(before.ms, took.ms), cpuMs: Math.min(before.cpuMs, took.cpuMs) });
    }
  }
  child.disconnect();
  await proxy?.[Symbol.asyncDispose]();
  await redis?.stop();
  const bare = best.get('none')!;
  return [...best]
    .filter(([name]) => name !== 'none')
    .map(([name, took]) => {
      const ratio = took.ms / bare.ms;
      const hasBar = name === 'LMDB';
      return {
        what: `prefetch of ${ORIGINS} origins with ${name}`,
        ours: shown(took),
        peer: `${shown(bare)} without`,
        ratio: `${ratio.toFixed(2)} ×, processor ${(took.cpuMs / bare.cpuMs).toFixed(2)} ×`,
        bar: hasBar ? `≤ ${LMDB_BAR} ×` : '',
        held: !hasBar || ratio <= LMDB_BAR,
      };
    });
}

async function prefetched(urls: readonly string[], open: () => Promise<Opened | undefined>): Promise<Took> {
  const opened = await open();
  const robots = new RobotsClient({
    agent: 'ExampleBot/1.0',
    ...(opened === undefined ? {} : { store: opened.store }),
  });
  const [cpu, startedAt] = [process.cpuUsage(), performance.now()];
  await robots.prefetch(urls);
  await robots.close();
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  await opened?.close();
  return { ms, cpuMs: (user + system) / 1_000 };
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
  const path = mkdtempSync(join(tmpdir(), 'canfetch-bench-'));
  const store = lmdbStore({ path });
  const close = async (): Promise<void> => {
    await store.close();
    rmSync(path, { recursive: true });
  };
  return { store, close };
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

const shown = ({ ms, cpuMs }: Took): string => `${ms.toFixed(0)} ms, processor ${cpuMs.toFixed(0)} ms`;
