/**
 * What outlives the process: the contract of a store, the record that is stored, and the calls to a store, which may
 * hang, fail or lie. It must not import `cache/`, `fetch/` or anything above. `lmdb/` and `redis/` are entrances of the
 * package: nothing here imports them, `lmdb` is loaded when it is called, and no Redis client is ever imported.
 */
export { openStore } from './open-store.ts';
export { RECORD_VERSION, RecordCodec, type Rejection } from './record/record-codec.ts';
export { type Asker, askerKey, readRecordKey, storeKey } from './store-key.ts';
export {
  cacheChannels,
  type CacheMessage,
  type PolicyChangeMessage,
  type Publisher,
  type RobotsStore,
  type StoreCalls,
  type StoreEvent,
  type StoreLease,
  type StoreLeaseOptions,
  type StoreSetOptions,
  type StoreOperation,
} from './store.ts';
export { StoredOrigins } from './stored-origins.ts';
export type { HeldLease } from './write-behind.ts';
