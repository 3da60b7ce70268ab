/**
 * The cache room: what is remembered of origins, and that each is asked for once at a time. It imports access/
 * and rules/, and is given the fetching as a function; it knows no client and no guard.
 */
export { OriginCache, type OriginCacheOptions } from './cache.ts';
export { CacheEntry } from './entry.ts';
export type { RobotsSource } from './source.ts';
