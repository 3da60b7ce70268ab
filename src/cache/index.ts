/**
 * The records of origins in memory, with at most one fetch per origin at a time. Fetching is passed in as a function:
 * this room must not import `fetch/`, a guard or the client.
 */
export { cacheChannels, type CacheMessage, type PolicyChangeMessage } from './channels.ts';
export { CacheEntry } from './entry.ts';
export { OriginCache } from './origin-cache.ts';
export {
  isExpired,
  promisedOrigins,
  readSnapshot,
  type RestoreOptions,
  type RestoreRejection,
  type RestoreResult,
  type SnapshotContext,
  snapshotHeader,
  writeSnapshot,
} from './snapshot.ts';
