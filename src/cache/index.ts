/**
 * What is remembered of origins in memory, and that an origin has one flight at a time, however many wait for it. It
 * is given the fetching as a function: it must not import `fetch/`, a guard or the client.
 */
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
