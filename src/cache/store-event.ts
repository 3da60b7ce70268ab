import type { Rejection } from '../store/record/record-codec.ts';

export type StoreOperation = 'get' | 'set' | 'delete' | 'lease' | 'release' | 'reserve';

/**
 * Trouble with the store, and its end. Questions go on without it: nothing here needs to be handled, but somebody
 * may want to know.
 */
export type StoreEvent =
  | {
      /** A call failed, or had not ended by its deadline. */
      readonly type: 'failed' | 'timeout';
      readonly operation: StoreOperation;
      readonly origin: string;
      /** What the store threw. */
      readonly error?: unknown;
    }
  | {
      /** An entry was not taken: the origin is treated as unknown. */
      readonly type: 'rejected';
      readonly origin: string;
      readonly reason: Rejection;
    }
  | {
      /** A record, or that one was to be forgotten, never reached the store. */
      readonly type: 'dropped';
      readonly operation: 'set' | 'delete';
      readonly origin: string;
    }
  | {
      /** After failures in a row the store is left alone for a while; reading and writing each by itself. */
      readonly type: 'suspended' | 'resumed';
      readonly calls: StoreCalls;
    };

/** `get` reads; everything else writes: a store may do one and refuse the other. */
export type StoreCalls = 'reads' | 'writes';
