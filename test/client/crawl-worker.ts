import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { lmdbStore } from '../../src/store/lmdb/lmdb.ts';
import { redisStore } from '../../src/store/redis/redis.ts';
import type { RobotsStore } from '../../src/store/store.ts';
import { RobotsClient } from '../../src/client/robots-client.ts';

/** `crawl-worker <lmdb|redis> <where>`: told origins, asks whether /private of each may be fetched. */
export interface CrawlReport {
  readonly allowed: readonly boolean[];
  /** Attempts to fetch a robots.txt. */
  readonly attempts: number;
  readonly events: readonly unknown[];
}

function openStore(kind: string, where: string): { store: RobotsStore; close(): Promise<unknown> } {
  if (kind === 'redis') {
    const redis = new Redis(where);
    return { store: redisStore(redis), close: () => redis.quit() };
  }
  const store = lmdbStore({ path: where });
  return { store, close: async () => store.close() };
}

const [kind = '', where = ''] = process.argv.slice(2);
const { store, close } = openStore(kind, where);
const events: unknown[] = [];
const robots = new RobotsClient({
  agent: 'ExampleBot/1.0',
  store,
  // The machine that tests run on may have other things to do.
  storeDeadlineMs: 60_000,
  onStoreEvent: (event) => events.push(event),
});
console.log('"ready"');
for await (const line of createInterface({ input: process.stdin })) {
  const origins = JSON.parse(line) as readonly string[];
  const allowed = await Promise.all(origins.map((origin) => robots.canFetch(`${origin}/private`)));
  const report: CrawlReport = { allowed, attempts: robots.stats().attempts, events };
  console.log(JSON.stringify(report));
}
await robots.close();
await close();
