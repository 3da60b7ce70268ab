import type { RedisServer } from '../../support/redis-server.ts';
import type { StoreUnderTest } from '../store-contract.ts';

/** Moves the end of a key nearer, by the server's own count, in place of waiting. */
export function elapseOnServer(server: RedisServer): StoreUnderTest['elapse'] {
  return async (kind, key, ms) => {
    const name = `canfetch:{${key}}${kind === 'lease' ? ':lease' : ''}`;
    const left = Number(await server.command('PTTL', name)) - ms;
    if (left > 1) {
      await server.command('PEXPIRE', name, String(left));
      return;
    }
    await server.command('PEXPIRE', name, '1');
    // Gone before long; and a server that keeps it for ever is not waited for.
    for (let polls = 0; (await server.command('EXISTS', name)) === 1; polls++) {
      if (polls > 1_000) throw new Error(`${name} does not expire`);
    }
  };
}
