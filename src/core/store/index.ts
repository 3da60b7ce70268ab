/**
 * What outlives the process: the contract of a store, the stored record, and calls to stores, which may hang, fail or
 * return anything. It must not import `cache/`, `fetch/` or any module above. The stores themselves are entry points of
 * the package in `src/stores`: nothing here imports them.
 */
export type { Rejection } from './record/record-codec.ts';
export { type CacheNamespace, namespaceKey, readRecordKey, storeKey } from './store-key.ts';
export {
  type DamagedDatabase,
  type RobotsStore,
  type StoreLease,
  type StoreReserveOptions,
  type StoreSlot,
  type StoreSetOptions,
  storeChannels,
  type StoreEvent,
  type StoreMessage,
  type StoreOperation,
} from './store.ts';
export type { SharedSchedule } from './shared-schedule.ts';
export type { HeldLease, StoredOrigins } from './stored-origins.ts';
