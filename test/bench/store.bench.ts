import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { lmdbStore } from '../../src/stores/lmdb/lmdb.ts';
import { redisStore } from '../../src/stores/redis/redis.ts';
import type { RobotsStore } from '../../src/core/store/store.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import type { BenchFile } from './files.ts';
import { median } from './measure.ts';

const DAY = 24 * 60 * 60 * 1000;
/** Months of life as a record has that a profile may use without end. */
const TTL_MS = 30 * DAY;

interface KeptRecord {
  readonly key: string;
  readonly value: string;
}

/** A store of the bench, and the space it takes. */
interface Measured {
  readonly store: RobotsStore;
  /** Bytes it holds on disk or in memory, all included. */
  bytes(): Promise<number>;
  close(): Promise<void>;
}

/** What a client writes of an origin that answered with this file: the body as text, and what came with it. */
function recordOf({ host, text }: BenchFile): KeptRecord {
  const fetchedAt = Date.UTC(2026, 0, 15, 12);
  const origin = `https://${host}`;
  const came = { status: 200, finalUrl: `${origin}/robots.txt`, hops: 0, fetchedAt };
  const copy = {
    body: text,
    truncated: false,
    etag: '"5f3a-1c2b3d4e5f"',
    lastModified: 'Thu, 15 Jan 2026 12:00:00 GMT',
    contentType: 'text/plain; charset=utf-8',
  };
  return {
    key: `robots:1:${origin}`,
    value: JSON.stringify({
      version: 1,
      origin,
      answer: { kind: 'rules', ...came, staleAt: fetchedAt + DAY },
      copy: { ...copy, ...came },
    }),
  };
}

function inMemory(): Measured {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const values = new Map<string, string>();
  return {
    store: {
      get: (key) => values.get(key),
      // A string of its own, as one that was read from somewhere is.
      set: (key, value) => void values.set(key, Buffer.from(value).toString()),
      delete: (key) => void values.delete(key),
    },
    async bytes() {
      globalThis.gc?.();
      return process.memoryUsage().heapUsed - before;
    },
    close: async () => values.clear(),
  };
}

function onDisk(): Measured {
  const path = mkdtempSync(join(tmpdir(), 'canfetch-bench-'));
  const store = lmdbStore({ path });
  return {
    store,
    bytes: async () => statSync(join(path, 'data.mdb')).size,
    async close() {
      await store.close();
      rmSync(path, { recursive: true });
    },
  };
}

async function onServer(client: 'ioredis' | 'node-redis'): Promise<Measured> {
  const server = await startRedis();
  const before = await usedMemory(server);
  const stop = (): Promise<void> => server.stop();
  const bytes = async (): Promise<number> => (await usedMemory(server)) - before;
  if (client === 'ioredis') {
    const connection = new Redis(server.url);
    return { store: redisStore(connection), bytes, close: () => connection.quit().then(stop) };
  }
  const connection = await createClient({ url: server.url }).connect();
  return { store: redisStore(connection), bytes, close: () => connection.close().then(stop) };
}

async function usedMemory(server: RedisServer): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(String(await server.command('INFO', 'memory')))?.[1]);
}

/** A row for each store: what an operation takes, and what an origin takes up. */
export async function* stores(files: readonly BenchFile[]): AsyncGenerator<string[]> {
  const records = files.map(recordOf);
  yield ['store', '`get`', '`set`', '`lease` and release', '`reserve`', 'bytes an origin'];
  const kinds: Readonly<Record<string, () => Promise<Measured>>> = {
    'a `Map` of strings': async () => inMemory(),
    LMDB: async () => onDisk(),
    'Redis, ioredis': () => onServer('ioredis'),
    'Redis, node-redis': () => onServer('node-redis'),
  };
  for (const [name, open] of Object.entries(kinds)) {
    try {
      yield [name, ...(await measure(await open(), records))];
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
      yield [name, 'redis-server is not installed', '', '', '', ''];
    }
  }
}

async function measure(measured: Measured, records: readonly KeptRecord[]): Promise<string[]> {
  const { store, bytes, close } = measured;
  const timed = async (count: number, work: (record: KeptRecord) => unknown): Promise<string> => {
    const took: number[] = [];
    for (const record of records.slice(0, count)) {
      const started = performance.now();
      await work(record);
      took.push(performance.now() - started);
    }
    const ms = median(took);
    return ms < 1 ? `${(ms * 1000).toFixed(ms < 0.01 ? 1 : 0)} µs` : `${ms.toFixed(1)} ms`;
  };
  const keep = ({ key, value }: KeptRecord): unknown => store.set(key, value, { ttlMs: TTL_MS });
  try {
    await Promise.all(records.map(keep));
    const bytesAnOrigin = (await bytes()) / records.length;
    // A store that writes many at a time lets one that comes alone wait.
    const set = await timed(100, keep);
    const get = await timed(1_000, ({ key }) => store.get(key));
    const lease =
      store.lease && (await timed(100, async ({ key }) => (await store.lease?.(key, 30_000))?.release()));
    const reserve = store.reserve && (await timed(1_000, ({ key }) => store.reserve?.(key, 1_000)));
    return [get, set, lease ?? '–', reserve ?? '–', Math.round(bytesAnOrigin).toLocaleString('en')];
  } finally {
    await close();
  }
}
