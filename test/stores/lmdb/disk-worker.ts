import { isRobotsError } from '../../../src/core/base/index.ts';
import { lmdbStore } from '../../../src/stores/lmdb/lmdb.ts';

/** `disk-worker <open|exit|throw> <folder>`: what becomes of a store, and of a process that ends while it writes. */
const [how, path = ''] = process.argv.slice(2);
try {
  const store = lmdbStore({ path });
  console.log('"opened"');
  if (how !== 'open') {
    const again = (): void => {
      for (let at = 0; at < 20; at++) void store.lease(`k${at}`, 1_000).catch(() => undefined);
    };
    again();
    // The write has been asked for, and its thread waits for the event loop.
    setImmediate(() => {
      again();
      if (how === 'throw') throw new Error('a mistake of the caller');
      process.exit(3);
    });
  }
} catch (error) {
  console.log(JSON.stringify(isRobotsError(error) ? [error.code, error.message] : String(error)));
}
