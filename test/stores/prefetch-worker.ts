import { RobotsClient } from '../../src/core/client/robots-client.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite.ts';
import type { RobotsStore } from '../../src/core/store/store.ts';
import { readRecordKey } from '../../src/core/store/record/record-codec.ts';

/** `prefetch-worker <path> <port> <count>`: prefetches `count` origins of 127.0.0.0/8, and reports each. */
export interface WorkerNotice {
  /** `learnt`: the client knows the origin. `written`: its write to the store has resolved. */
  readonly what: 'learnt' | 'written';
  readonly origin: string;
  readonly at: number;
}

const [path = '', port, count] = process.argv.slice(2);
// Lines to a pipe are written synchronously, so that a killed process has reported everything.
const notify = (what: WorkerNotice['what'], origin: string): void =>
  console.log(JSON.stringify({ what, origin, at: Date.now() } satisfies WorkerNotice));

/** Reports when writes resolve. */
function watched(store: RobotsStore): RobotsStore {
  return {
    get: (key) => store.get(key),
    async set(key, value, options) {
      await store.set(key, value, options);
      notify('written', readRecordKey(key)?.origin ?? '');
    },
    delete: (key) => store.delete(key),
  };
}

const store = sqliteStore({ path });
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
