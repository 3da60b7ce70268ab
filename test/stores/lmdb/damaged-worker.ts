import { createInterface } from 'node:readline';
import { subscribe } from 'node:diagnostics_channel';
import { isRobotsError } from '../../../src/core/base/index.ts';
import { type LmdbStore, lmdbStore } from '../../../src/stores/lmdb/lmdb.ts';

/** What the worker receives. */
export interface DamagedTask {
  /** `use`: opens the store, does all that can be done with it, and writes `key`. `keys`: those that are there. */
  readonly task: 'use' | 'keys' | 'close';
  readonly path: string;
  readonly key?: string;
}

/** What came of `use`. */
export interface UsedStore {
  readonly code?: unknown;
  readonly message?: string;
  readonly quarantine?: unknown;
  readonly events?: readonly unknown[];
  /** Whether what was written was read again, and a lease and a slot were given. */
  readonly works?: boolean;
}

const MINUTE = 60_000;
const opened = new Map<string, LmdbStore>();
const events: unknown[] = [];
subscribe('canfetch:store', (event) => events.push(event));

async function use(path: string, key: string): Promise<UsedStore> {
  events.length = 0;
  let store: LmdbStore;
  try {
    store = lmdbStore({ path });
  } catch (error) {
    if (!isRobotsError(error)) throw error;
    return { code: error.code, message: error.message };
  }
  opened.set(path, store);
  for (let index = 0; index < 300; index++) await store.get(`https://site${index}.example`);
  for await (const entry of store.entries()) void entry;
  const value = `${key} `.repeat(1_000);
  await store.set(key, value, { ttlMs: MINUTE });
  await Promise.all(Array.from({ length: 50 }, (_, at) => store.set(`n${at}`, value, { ttlMs: MINUTE })));
  const lease = await store.lease(key, MINUTE);
  const wait = await store.reserve(key, MINUTE);
  const got = await store.get(key);
  await store.sweep();
  const works = got === value && lease !== undefined && wait >= 0;
  return {
    works,
    events: [...events],
    ...(store.quarantine === undefined ? {} : { quarantine: store.quarantine }),
  };
}

async function keys(path: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of opened.get(path)?.entries() ?? []) found.push(key);
  return found;
}

console.log('"ready"');
for await (const line of createInterface({ input: process.stdin })) {
  const { task, path, key = 'k' } = JSON.parse(line) as DamagedTask;
  if (task === 'use') console.log(JSON.stringify(await use(path, key)));
  else if (task === 'keys') console.log(JSON.stringify(await keys(path)));
  else console.log(JSON.stringify((await opened.get(path)?.close()) ?? null));
}
