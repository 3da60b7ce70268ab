import type { Redis } from 'ioredis';

/** What the recipe uses of browsertrix-crawler's `src/util/state.ts`. */
export interface RedisCrawlState {
  readonly redis: Redis;
}
