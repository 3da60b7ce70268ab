import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteStore, sqliteStore } from '../../src/stores/sqlite/sqlite.ts';
import { HOUR, MINUTE, SECOND } from '../support/client.ts';
import { describeWith } from '../support/installed.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { quietEnv } from '../support/sqlite.ts';
import { type CompiledScript, compileScript, startWorker, type Worker } from '../support/workers.ts';
import type { WorkerTask } from './store-worker.ts';

const PROCESSES = 4;
let script: CompiledScript;
const running: Worker[] = [];

beforeAll(() => {
  script = compileScript(new URL('store-worker.ts', import.meta.url));
});

afterAll(async () => {
  for (const worker of running) await worker.kill();
  script[Symbol.dispose]();
});

async function start(kind: 'redis' | 'sqlite', where: string, count: number): Promise<Worker[]> {
  const workers = Array.from({ length: count }, () => startWorker(script, [kind, where], { env: quietEnv }));
  running.push(...workers);
  for (const worker of workers) expect(await worker.next()).toBe('ready');
  return workers;
}

async function perform(worker: Worker, task: WorkerTask): Promise<unknown[]> {
  worker.send(task);
  return (await worker.next()) as unknown[];
}

/** What several processes owe each other. */
function sharedBehaviour(open: () => Promise<Worker[]>): void {
  let workers: Worker[] = [];

  // Four processes take their time to start where others run, too.
  beforeAll(async () => {
    workers = await open();
  }, 60_000);

  /** Each process does the task at the same time; what each found. */
  const atOnce = (task: WorkerTask): Promise<unknown[][]> =>
    Promise.all(workers.map((worker) => perform(worker, task)));

  it('each lease goes to one process', async () => {
    const keys = Array.from({ length: 100 }, (_, at) => `https://site${at}.example`);
    const won = await atOnce({ task: 'lease', keys, ms: HOUR });
    const winners = keys.map((_, at) => won.filter((byProcess) => byProcess[at] === true).length);
    expect(winners).toEqual(keys.map(() => 1));
  });

  it('each slot goes to one process', async () => {
    const keys = Array.from({ length: 50 }, () => 'https://example.com');
    const waits = (await atOnce({ task: 'reserve', keys, ms: MINUTE })).flat();
    const ranks = waits.map((wait) => Math.ceil(Number(wait) / MINUTE)).sort((a, b) => a - b);
    expect(ranks).toEqual(Array.from({ length: PROCESSES * keys.length }, (_, rank) => rank));
  });

  it('each process reads the writes of the others', async () => {
    const keys = Array.from({ length: 50 }, (_, at) => `https://site${at}.example`);
    const value = 'Disallow: /private\n'.repeat(200);
    const set = await atOnce({ task: 'set', keys, ms: HOUR, value });
    expect(set.flat()).toEqual(Array.from({ length: PROCESSES * keys.length }, () => 'set'));
    const got = await atOnce({ task: 'get', keys, ms: 0 });
    expect(got.flat().every((found) => found === value)).toBe(true);
  });
}

describe('processes on one SQLite', () => {
  let folder: string;
  let path: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'canfetch-sqlite-'));
    path = join(folder, 'robots.sqlite');
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  sharedBehaviour(() => start('sqlite', path, PROCESSES));

  it('the lease of a killed process expires', async () => {
    const [holder] = (await start('sqlite', path, 1)) as [Worker];
    expect(await perform(holder, { task: 'lease', keys: ['k'], ms: 30 * SECOND })).toEqual([true]);
    await holder.kill();
    let later = 0;
    await using store = openSqliteStore(path, { clock: { now: () => Date.now() + later } });
    expect(await store.lease('k', SECOND)).toBeUndefined();
    later = 31 * SECOND;
    expect(await store.lease('k', SECOND)).toBeDefined();
  });

  it('a process killed while it writes leaves whole values and a usable database', async () => {
    const keys = Array.from({ length: 2_000 }, (_, at) => `https://written${at}.example`);
    const value = 'x'.repeat(1_000);
    const [writer] = (await start('sqlite', path, 1)) as [Worker];
    writer.send({ task: 'set', keys, ms: HOUR, value } satisfies WorkerTask);
    await using store = sqliteStore({ path });
    while ((await store.get(keys[0]!)) === undefined) await new Promise((resolve) => setImmediate(resolve));
    await writer.kill();
    for await (const entry of store.entries()) {
      if (entry.key.includes('written')) expect(entry.value).toBe(value);
    }
    await store.set('k', 'value', { ttlMs: HOUR });
    expect(await store.get('k')).toBe('value');
  });

  it('a killed process has kept every write that was confirmed', async () => {
    const [writer] = (await start('sqlite', path, 1)) as [Worker];
    const keys = Array.from({ length: 300 }, (_, at) => `https://kept${at}.example`);
    expect(await perform(writer, { task: 'set', keys, ms: HOUR, value: 'v' })).toEqual(keys.map(() => 'set'));
    await writer.kill();
    await using store = sqliteStore({ path });
    for (const key of keys) expect(await store.get(key)).toBe('v');
  });

  it('a process with an open store ends by itself', async () => {
    const [worker] = (await start('sqlite', path, 1)) as [Worker];
    expect(await perform(worker, { task: 'set', keys: ['k'], ms: HOUR, value: 'v' })).toEqual(['set']);
    worker.end();
    expect(await worker.ended()).toEqual({ code: 0, stderr: '' });
  });

  it('that open it at once make one database', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'canfetch-sqlite-'));
    for (let round = 0; round < 2; round++) {
      const path = join(folder, `${round}.sqlite`);
      const crowd = await start('sqlite', path, PROCESSES);
      const won = await Promise.all(
        crowd.map((worker) => perform(worker, { task: 'lease', keys: ['k'], ms: HOUR })),
      );
      expect(won.flat().filter((isMine) => isMine === true)).toHaveLength(1);
      for (const worker of crowd) await worker.kill();
    }
    rmSync(folder, { recursive: true });
  });
});

describeWith('redis-server')('processes on one Redis', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis();
  });

  afterAll(() => server?.stop());

  sharedBehaviour(() => start('redis', server.url, PROCESSES));
});
