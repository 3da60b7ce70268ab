import { isRobotsError } from '../../../src/core/base/errors.ts';
import { lmdbStore } from '../../../src/stores/lmdb/lmdb.ts';

/** `lmdb-missing <folder>`: what becomes of a store where there is no `lmdb`. */
try {
  lmdbStore({ path: process.argv[2] ?? '' });
} catch (error) {
  if (isRobotsError(error)) console.log(JSON.stringify({ code: error.code, message: error.message }));
}
