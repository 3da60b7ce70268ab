import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LmdbStore, lmdbStore } from '../../src/cache/lmdb.ts';
import { VirtualClock } from '../support/client.ts';
import { storeContract } from './store-contract.ts';

storeContract('LMDB', async () => {
  const clock = new VirtualClock();
  const path = mkdtempSync(join(tmpdir(), 'canfetch-lmdb-'));
  const store: LmdbStore = lmdbStore({ path, clock });
  return {
    store,
    elapse: async (_kind, _key, ms) => clock.advance(ms),
    async close() {
      await store.close();
      rmSync(path, { recursive: true });
    },
  };
});
