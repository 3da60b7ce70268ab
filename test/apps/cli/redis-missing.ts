import { isRobotsError } from '../../../src/core/base/errors.ts';
import { openRedisStore } from '../../../src/apps/cli/frame/open-redis-store.ts';

/** What becomes of `--store redis://…` where no client of Redis is installed. */
try {
  await openRedisStore('redis://127.0.0.1:1');
} catch (error) {
  if (isRobotsError(error)) console.log(JSON.stringify({ code: error.code, message: error.message }));
}
