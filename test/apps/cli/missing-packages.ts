import { isRobotsError } from '../../../src/core/base/errors.ts';
import { openRedisStore } from '../../../src/apps/cli/frame/open-redis-store.ts';
import { openPathStore } from '../../../src/apps/cli/frame/store-option.ts';

/** What `--store` is refused with where no client of Redis and no `lmdb` is installed. */
for (const open of [() => openRedisStore('redis://127.0.0.1:1'), () => openPathStore('./x')]) {
  try {
    await open();
  } catch (error) {
    if (isRobotsError(error)) console.log(JSON.stringify({ code: error.code, message: error.message }));
  }
}
