import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RobotsStore, RobotsClient } from '../../src/index.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite.ts';
import { hasNodeSqlite } from '../support/sqlite.ts';
import { loopbackOrigins } from './bulk-urls.ts';
import { median, type Row } from './measure.ts';
import { startProcess } from './program.ts';

const ORIGINS = 2_000;

/** The thread of Node's main loop, without those of libraries. */
function mainThreadMs(): number {
  const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

/** What SQLite adds to the time of the main thread for an origin with a real file, which comes over a socket. */
export async function storeCost(rounds: number): Promise<Row[]> {
  if (process.platform !== 'linux') return [];
  const server = await startProcess('loopback-server.js', 'real-files');
  const origins = loopbackOrigins(ORIGINS, server.port);
  const times: (readonly [bareMs: number, addedMs: number])[] = [];
  for (let round = -1; round < rounds; round++) {
    const bareMs = await prefetchMs(origins);
    const storedMs = await onDisk((store) => prefetchMs(origins, store));
    if (round >= 0) times.push([bareMs, storedMs - bareMs]);
  }
  server.child.disconnect();
  const microsOf = (at: 0 | 1): number => (median(times.map((each) => each[at])) * 1_000) / ORIGINS;
  const library = hasNodeSqlite ? 'node:sqlite' : 'libsql';
  return [
    {
      what: `SQLite (${library}): main thread, an origin over sockets`,
      ours: `${microsOf(1).toFixed(0)} µs`,
      peer: `${microsOf(0).toFixed(0)} µs without a store`,
      bar: '≤ 120 µs',
      used: microsOf(1) / 120,
    },
  ];
}

async function prefetchMs(origins: readonly string[], store?: RobotsStore): Promise<number> {
  const robots = new RobotsClient({
    agent: 'ExampleBot/1.0',
    cache: { maxBytes: 2 ** 30 },
    ...(store === undefined ? {} : { store }),
  });
  globalThis.gc?.();
  const before = mainThreadMs();
  const { states } = await robots.prefetch(origins);
  await robots.close();
  if (states.rules !== origins.length) throw new Error('Expected all origins to have rules');
  return mainThreadMs() - before;
}

async function onDisk<Value>(use: (store: RobotsStore) => Promise<Value>): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), 'canfetch-bench-'));
  const store = sqliteStore({ path: join(folder, 'robots.sqlite') });
  const value = await use(store);
  await store.close();
  rmSync(folder, { recursive: true });
  return value;
}
