import { isRobotsError } from '../../../src/core/base/errors.ts';
import { openRedisStore } from '../../../src/apps/cli/frame/open-redis-store.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.ts';

/** What `--store` is refused with where no client of Redis and no SQLite is installed. */
for (const open of [() => openRedisStore('redis://127.0.0.1:1'), () => sqliteStore({ path: './x.sqlite' })]) {
  try {
    await open();
  } catch (error) {
    if (isRobotsError(error)) console.log(JSON.stringify({ code: error.code, message: error.message }));
  }
}
