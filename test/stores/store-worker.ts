import { createInterface } from 'node:readline';
import { redisStore } from '../../src/stores/redis/redis.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite.ts';
import type { RobotsStore } from '../../src/core/store/store.ts';

/** `store-worker <redis|sqlite> <where>`: runs the tasks that it receives, until its input ends. */
export interface WorkerTask {
  readonly task: 'lease' | 'reserve' | 'set' | 'get';
  readonly keys: readonly string[];
  /** `ttlMs` of leases and values, `delayMs` of slots. */
  readonly ms: number;
  readonly value?: string;
}

interface Opened {
  readonly store: RobotsStore & Required<Pick<RobotsStore, 'lease' | 'reserve'>>;
  close(): Promise<void>;
}

/** Loads only the library that is used: many processes are started. */
async function openStore(kind: string, where: string): Promise<Opened> {
  if (kind === 'redis') {
    const { Redis } = await import('ioredis');
    const redis = new Redis(where);
    return { store: redisStore(redis), close: async () => void (await redis.quit()) };
  }
  // Left open: the process ends by itself.
  return { store: sqliteStore({ path: where }), close: async () => undefined };
}

/** Results in the order of the keys; an error as its message. */
async function run({ store }: Opened, { task, keys, ms, value = '' }: WorkerTask): Promise<unknown[]> {
  const done = keys.map(async (key) => {
    if (task === 'lease') return (await store.lease(key, ms)) !== undefined;
    if (task === 'reserve') {
      const slot = await store.reserve(key, ms);
      return typeof slot === 'number' ? slot : slot.waitMs;
    }
    if (task === 'set') return (await store.set(key, value, { ttlMs: ms })) ?? 'set';
    return (await store.get(key)) ?? null;
  });
  const results = await Promise.allSettled(done);
  return results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason)));
}

const [kind = '', where = ''] = process.argv.slice(2);
const opened = await openStore(kind, where);
console.log('"ready"');
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await run(opened, JSON.parse(line) as WorkerTask)));
}
await opened.close();
