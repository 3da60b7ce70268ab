/**
 * Storage that outlives the process: the contract of a store, the stored record, and the calls to a store, which may
 * hang, fail or return anything. It must not import `cache/`, `fetch/` or any module above. `lmdb/`, `sqlite/`, `redis/`
 * and `keyv/` are entry points of the package: nothing here imports them. `lmdb` and `node:sqlite` are loaded when they
 * are called, a Redis client and Keyv never. `embedded/` is what LMDB and SQLite share.
 */
export type { Rejection } from './record/record-codec.ts';
export { type CacheNamespace, namespaceKey, readRecordKey, storeKey } from './store-key.ts';
export {
  type RobotsStore,
  type StoreLease,
  type StoreLeaseOptions,
  type StoreReserveOptions,
  type StoreSlot,
  type StoreSetOptions,
  type StoreCalls,
  storeChannels,
  type StoreEvent,
  type StoreOperation,
} from './store.ts';
export type { SharedSchedule } from './shared-schedule.ts';
export type { HeldLease } from './leases.ts';
export type { StoredOrigins } from './stored-origins.ts';
