import { channel, type Publisher, quote, RobotsInvalidOptionsError } from '../base/index.ts';
import type { OriginState } from '../lifecycle/index.ts';
import type { Rejection } from './record/record-codec.ts';

/** `canfetch:cache`: a question met the memory cache. */
export interface CacheMessage {
  readonly origin: string;
  /**
   * - `hit`: answered from memory.
   * - `miss`: the question waits.
   * - `refresh`: answered from memory, and a refresh ahead was started.
   * - `evict`: the origin was evicted to make room.
   */
  readonly event: 'hit' | 'miss' | 'refresh' | 'evict';
}

/** `canfetch:policy-change`: the rules, or the state, of an origin changed. */
export interface PolicyChangeMessage {
  readonly origin: string;
  /** `unknown` when there was no record. */
  readonly before: OriginState;
  readonly after: OriginState;
  /** Whether the octets of the file changed. */
  readonly fileChanged: boolean;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The channels of this room. */
export const cacheChannels: {
  readonly cache: Publisher<CacheMessage>;
  readonly policyChange: Publisher<PolicyChangeMessage>;
  /** `canfetch:store`: trouble with the store, or the end of it. */
  readonly store: Publisher<StoreEvent>;
} = {
  cache: channel('canfetch:cache'),
  policyChange: channel('canfetch:policy-change'),
  store: channel('canfetch:store'),
};

/**
 * Checks a duration for a store: a NaN in a timetable would stay there.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function milliseconds(name: 'ttlMs' | 'delayMs', value: number): number {
  const holds = Number.isFinite(value) && (name === 'ttlMs' ? value > 0 : value >= 0);
  if (holds) return value;
  throw new RobotsInvalidOptionsError(
    `Expected \`${name}\` to be milliseconds ${name === 'ttlMs' ? 'above 0' : 'from 0 on'}, got ${quote(value)}`,
  );
}

/**
 * The time in milliseconds for which a slot is kept after its own time, so that a later booking with a longer delay
 * still finds it. With a longer delay it is kept for that long.
 */
export const SLOT_REMEMBERED_MS: number = 5 * 60 * 1000;

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
       * is published on the channel `canfetch:store` only, and in `setAside` of the store.
       */
      readonly type: 'set-aside';
      readonly path: string;
      readonly movedTo: string;
      readonly reason: string;
    };

/** `get` is a read, all other calls are writes. A store may serve one and refuse the other. */
export type StoreCalls = 'reads' | 'writes';

/** A lease with a token of its own. */
export interface FencedLease extends StoreLease {
  readonly token: string;
}

export interface StoreSetOptions {
  /** The time to keep the value, in milliseconds. */
  readonly ttlMs: number;
  /**
   * Fencing token of the lease under which the value was learnt. A store with fencing ignores the write if the stored
   * value was written under a later lease, so that a late holder overwrites nothing newer.
   */
  readonly fence?: string;
}

export interface StoreLeaseOptions {
  /**
   * The key of the value that is learnt under the lease, so that a store can read it in the same step
   * ({@link StoreLease.value}), and write it and give the lease back in one ({@link StoreLease.setAndRelease}).
   */
  readonly valueKey?: string;
}

/** A lease on an origin. Its holder fetches the robots.txt. */
export interface StoreLease {
  /**
   * Fencing token: unique, and greater than those of earlier leases on the key, compared as text. Without it writes
   * are not fenced.
   */
  readonly token?: string;
  /**
   * The value under `valueKey` when the lease was taken, `null` when there was none. Without it the client reads the
   * value by itself: whoever held the lease before may have written it.
   */
  readonly value?: string | null;
  /**
   * Does what `set` does to `valueKey`, fenced by this lease, and gives the lease back, in one step. Without it the
   * client calls `set`, and then `release`.
   */
  setAndRelease?(value: string, options: { readonly ttlMs: number }): Promise<void>;
  /** Releases the lease, unless it has expired and another holder has it. */
  release(): Promise<void>;
}

/**
 * A store for records that outlive the process: the client's `store` option. Keys and values are strings made by the
 * client. A store keeps them unchanged until their TTL ends.
 *
 * A store may fail in any way. The client gives each call a deadline, validates what it reads, and continues without
 * the store.
 */
export interface RobotsStore {
  /** The value, or `undefined` when there is none or it has expired. */
  get(key: string): Promise<string | undefined> | string | undefined;
  /**
   * Keeps `value` for at least `ttlMs` milliseconds, and not much longer. Ignores the write if `fence` is earlier
   * than the token of the stored value.
   */
  set(key: string, value: string, options: StoreSetOptions): Promise<void> | void;
  delete(key: string): Promise<void> | void;
  /**
   * Takes a lease for `ttlMs`, so that a fleet fetches an origin once. `undefined` while another holds it. Without
   * this method every process fetches by itself.
   */
  lease?(key: string, ttlMs: number, options?: StoreLeaseOptions): Promise<StoreLease | undefined>;
  /**
   * Books the next slot of `key`, `delayMs` after the last one booked by anybody, by the store's own clock.
   *
   * @returns milliseconds from now until the slot.
   */
  reserve?(key: string, delayMs: number): Promise<number>;
}
