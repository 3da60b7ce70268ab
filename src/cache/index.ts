/**
 * The cache room: what is remembered of origins, and that each is asked for once at a time. It imports access/
 * and rules/, and is given the fetching as a function; it must not import
 * `fetch/`, a guard or the client. `lmdb` is loaded by `lmdb-database.ts` alone, when it is called, and no Redis client is:
 * users hand over theirs.
 */
export { OriginCache } from './origin-cache.ts';
export {
  cacheChannels,
  type CacheMessage,
  type PolicyChangeMessage,
  type Publisher,
} from '../store/store.ts';
export { CacheEntry } from './entry.ts';
export { openStore } from '../store/open-store.ts';
export { RecordCodec, type Rejection } from '../store/record/record-codec.ts';
export {
  readSnapshot,
  type RestoreOptions,
  type RestoreRejection,
  type RestoreResult,
  type SnapshotContext,
  writeSnapshot,
} from './snapshot.ts';
export type { RobotsSource } from '../lifecycle/robots-source.ts';
export type { StoreCalls, StoreEvent, StoreOperation } from '../store/store.ts';
export type { RobotsStore, StoreLease } from '../store/store.ts';
