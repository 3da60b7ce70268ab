import { RobotsClient } from '../../src/core/client/robots-client.ts';
import type { EmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { lmdbStore } from '../../src/stores/lmdb/lmdb.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite.ts';
import type { RobotsStore } from '../../src/core/store/store.ts';
import { readRecordKey } from '../../src/core/store/store-key.ts';

/** `prefetch-worker <lmdb|sqlite> <path> <port> <count>`: prefetches `count` origins of 127.0.0.0/8, and reports each. */
export interface WorkerNotice {
  /** `learnt`: the client knows the origin. `written`: its write to the store has resolved. */
  readonly what: 'learnt' | 'written';
  readonly origin: string;
  readonly at: number;
}

const [kind, path = '', port, count] = process.argv.slice(2);
// Lines to a pipe are written synchronously, so that a killed process has reported everything.
const notify = (what: WorkerNotice['what'], origin: string): void =>
  console.log(JSON.stringify({ what, origin, at: Date.now() } satisfies WorkerNotice));

/** Reports when the writes under a lease resolve. */
function watched(store: EmbeddedStore): RobotsStore {
  return {
    get: (key) => store.get(key),
    set: (key, value, options) => store.set(key, value, options),
    delete: (key) => store.delete(key),
    async lease(key, ttlMs, options) {
      const lease = await store.lease(key, ttlMs, options);
      const origin = readRecordKey(options?.valueKey ?? '')?.origin ?? '';
      return (
        lease && {
          ...lease,
          async setAndRelease(value, setOptions) {
            await lease.setAndRelease?.(value, setOptions);
            notify('written', origin);
          },
        }
      );
    },
  };
}

const store = kind === 'lmdb' ? lmdbStore({ path }) : sqliteStore({ path });
const robots = new RobotsClient({
  agent: 'ExampleBot/1.0',
  store: watched(store),
  storeDeadlineMs: 60_000,
});
const origins = Array.from(
  { length: Number(count) },
  (_, index) => `http://127.1.${index >> 8}.${index & 0xff}:${port}`,
);
await robots.prefetch(origins, { onProgress: ({ origin }) => notify('learnt', origin) });
await robots.close();
await store.close();
