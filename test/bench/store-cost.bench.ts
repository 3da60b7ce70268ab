import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RobotsStore, RobotsClient } from '../../src/index.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite.ts';
import { hasNodeSqlite } from '../support/sqlite.ts';
import { type BenchFile, benchFiles } from './files.ts';
import { median, type Row } from './measure.ts';

/** The thread of Node's main loop, without those of libraries. */
function mainThreadMs(): number {
  const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

/** What SQLite adds to the time of the main thread for an origin with a real body, over a fetch without sockets. */
export async function storeCost(rounds: number): Promise<Row[]> {
  if (process.platform !== 'linux') return [];
  const { files } = benchFiles();
  const times: (readonly [bareMs: number, addedMs: number])[] = [];
  for (let round = -1; round < rounds; round++) {
    const bareMs = await prefetchMs(files);
    const storedMs = await onDisk((store) => prefetchMs(files, store));
    if (round >= 0) times.push([bareMs, storedMs - bareMs]);
  }
  const microsOf = (at: 0 | 1): number => (median(times.map((each) => each[at])) * 1_000) / files.length;
  const library = hasNodeSqlite ? 'node:sqlite' : 'libsql';
  return [
    {
      what: `main-thread time that SQLite (${library}) adds to an origin of ${files.length} with real files`,
      ours: `${microsOf(1).toFixed(0)} µs`,
      peer: `${microsOf(0).toFixed(0)} µs without a store`,
      ratio: '',
      bar: '≤ 120 µs',
      held: microsOf(1) <= 120,
    },
  ];
}

async function prefetchMs(files: readonly BenchFile[], store?: RobotsStore): Promise<number> {
  let next = 0;
  const robots = new RobotsClient({
    agent: 'ExampleBot/1.0',
    cache: { maxBytes: 2 ** 30 },
    storeDeadlineMs: 60_000,
    ...(store === undefined ? {} : { store }),
    transport: {
      fetch: async () => new Response(Uint8Array.from(files[next++ % files.length]!.bytes)),
    },
  });
  globalThis.gc?.();
  const before = mainThreadMs();
  await robots.prefetch(files.map(({ host }) => `https://${host}/`));
  await robots.close();
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
