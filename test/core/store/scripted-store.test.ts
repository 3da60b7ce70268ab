import { VirtualClock } from '../../support/client.ts';
import { ScriptedStore } from '../../support/store.ts';
import { storeContract } from '../../stores/store-contract.ts';

/** What stands in for a store in other tests does as stores do. */
storeContract('in memory, for tests', async () => {
  const clock = new VirtualClock();
  return {
    store: new ScriptedStore({ clock, reserves: true }),
    now: () => clock.now(),
    elapse: async (_kind, _key, ms) => clock.advance(ms),
    close: async () => undefined,
  };
});
