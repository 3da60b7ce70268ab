import { channel, type Publisher } from '../base/index.ts';
import type { Rejection } from './record/record-codec.ts';

export type StoreOperation = 'get' | 'set' | 'delete' | 'lease' | 'release' | 'reserve' | 'pause' | 'now';

/**
 * Trouble with the store, and its end. Questions are answered without the store, so an event needs no handling; it is
 * for logs.
 */
export type StoreEvent =
  | {
      /** A call failed, or had not ended by its deadline. */
      readonly type: 'failed' | 'timeout';
      readonly operation: StoreOperation;
      readonly origin: string;
      /** The error of the store. */
      readonly error?: unknown;
    }
  | {
      /** An entry was rejected: the origin is treated as unknown. */
      readonly type: 'rejected';
      readonly origin: string;
      readonly reason: Rejection;
    }
  | {
      /** A write or a deletion never reached the store. */
      readonly type: 'dropped';
      readonly operation: 'set' | 'delete';
      readonly origin: string;
    }
  | {
      /** After consecutive failures the store is not used for a while. Reads and writes are suspended separately. */
      readonly type: 'suspended' | 'resumed';
      readonly calls: StoreCalls;
    }
  | {
      /**
       * A damaged LMDB database was renamed and a new one created. This happens before a client has the store, so it
       * is published on the channel `canfetch:store` only, and in `quarantine` of the store.
       */
      readonly type: 'quarantined';
      readonly path: string;
      readonly movedTo: string;
      readonly reason: string;
    };

/** `get` is a read, all other calls are writes. A store may serve one and refuse the other. */
export type StoreCalls = 'reads' | 'writes';

/** `canfetch:store`: every {@link StoreEvent}. */
export const storeChannels: { readonly store: Publisher<StoreEvent> } = { store: channel('canfetch:store') };
