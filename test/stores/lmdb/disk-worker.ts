import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { open } from 'lmdb';
import { isRobotsError } from '../../../src/core/base/index.ts';
import { lmdbStore } from '../../../src/stores/lmdb/lmdb.ts';

/**
 * `disk-worker <open|exit|throw|thread|closed> <folder>`: what becomes of a store, and of a process that ends while it
 * writes. `thread`: a worker thread does what `exit` does. `closed`: the database was closed before.
 */
const [how, path = ''] = process.argv.slice(2);
try {
  if (how === 'thread') {
    const thread = new Worker(fileURLToPath(import.meta.url), { argv: ['exit', path] });
    thread.on('exit', (code) => console.log(JSON.stringify(code)));
  } else if (how === 'closed') {
    const database = open({ path, encoding: 'binary' });
    const store = lmdbStore(database);
    await database.close();
    await store.set('k', 'v', { ttlMs: 1_000 }).catch(() => console.log('"rejected"'));
  } else start();
} catch (error) {
  console.log(JSON.stringify(isRobotsError(error) ? [error.code, error.message] : String(error)));
}

function start(): void {
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
}
