import { fileURLToPath } from 'node:url';
import { isRobotsError } from '../../../src/core/base/errors.ts';
import { openRedisStore } from '../../../src/apps/cli/frame/named-store.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.ts';

/** What `--store` is refused with where no client of Redis and no SQLite is installed. */
const refused = [() => openRedisStore('redis://127.0.0.1:1')];
// A Node.js that has SQLite would make the file, in the folder of this script, which the test removes.
const path = fileURLToPath(new URL('robots.sqlite', import.meta.url));
const withoutSqlite = [...refused, () => sqliteStore({ path })];
for (const open of process.getBuiltinModule('node:sqlite') === undefined ? withoutSqlite : refused) {
  try {
    await open();
  } catch (error) {
    if (isRobotsError(error)) console.log(JSON.stringify({ code: error.code, message: error.message }));
  }
}
