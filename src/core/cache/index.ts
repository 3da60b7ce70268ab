/**
 * The records of origins in memory, and their refresh, with at most one flight per origin at a time. Attempts are
 * passed in: this module must not import `fetch/`, a guard or the client.
 */
export {
  cacheChannels,
  CacheEvents,
  type CacheMessage,
  type PolicyChangeMessage,
  type RecordChange,
} from './cache-events.ts';
export { CacheEntry } from './entry.ts';
export { OriginMemory } from './origin-memory.ts';
export { OriginRefresher } from './origin-refresher.ts';
