import { memoryStore } from '../support/memory-store.ts';
import { VirtualClock } from '../support/client.ts';
import { storeContract } from './store-contract.ts';

/** The suite itself is sound: the plainest store there can be passes it. */
storeContract('in memory', async () => {
  const clock = new VirtualClock();
  return {
    store: memoryStore(clock),
    elapse: async (_kind, _key, ms) => clock.advance(ms),
    close: async () => undefined,
  };
});
