import { RobotsClient } from '../../src/core/client/robots-client.ts';
import { redisStore } from '../../src/stores/redis/redis.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite.ts';
import type { RobotsStore, StoreEvent } from '../../src/core/store/store.ts';
import { everyNameIsLocal } from './sites.ts';
import { createInterface } from 'node:readline';

export type StoreKind = 'sqlite' | 'ioredis' | 'node-redis';

/** The argument of `member`: a process with a client over a store that others use too. */
export interface MemberOptions {
  readonly store: StoreKind;
  /** A file, or the URL of a server. */
  readonly where: string;
  readonly agent: string;
  /** Of its robots.txt requests; its leases last two seconds longer. */
  readonly deadlineMs?: number;
  /** How far its clock is ahead. */
  readonly laterMs?: number;
}

/** What a member tells when it has decided on the URLs that it was told, in their order. */
export interface MemberReport {
  readonly decisions: readonly {
    readonly allowed: boolean;
    readonly state: string;
    readonly source: string;
  }[];
  readonly attempts: number;
  readonly events: readonly StoreEvent[];
}

interface Opened {
  readonly store: RobotsStore;
  close(): Promise<void>;
}

/** Loads only the library that is used: many processes are started. */
async function openStore({ store: kind, where }: MemberOptions): Promise<Opened> {
  if (kind === 'sqlite') {
    const store = sqliteStore({ path: where });
    return { store, close: () => store.close() };
  }
  if (kind === 'ioredis') {
    const { Redis } = await import('ioredis');
    const connection = new Redis(where);
    return { store: redisStore(connection), close: async () => void (await connection.quit()) };
  }
  const { createClient } = await import('redis');
  const connection = await createClient({ url: where }).connect();
  return { store: redisStore(connection), close: () => connection.close() };
}

const options: MemberOptions = JSON.parse(process.argv[2] ?? '');
const { agent, deadlineMs = 25_000, laterMs = 0 } = options;
const { store, close } = await openStore(options);
const events: StoreEvent[] = [];
const robots = new RobotsClient({
  agent,
  deadlineMs,
  store,
  // Counts are what is tested: a machine that is busy is not to add to them.
  storeDeadlineMs: 60_000,
  onStoreEvent: (event) => events.push(event),
  clock: { now: () => Date.now() + laterMs },
  lookup: everyNameIsLocal,
});
console.log('"ready"');
for await (const line of createInterface({ input: process.stdin })) {
  const urls = JSON.parse(line) as string[];
  const decisions = await Promise.all(urls.map((url) => robots.check(url)));
  const report: MemberReport = {
    decisions: decisions.map(({ allowed, state, robots: { source } }) => ({ allowed, state, source })),
    attempts: robots.stats().attempts,
    events,
  };
  console.log(JSON.stringify(report));
}
await robots.close();
await close();
