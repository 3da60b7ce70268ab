import { quote, RobotsInvalidOptionsError, channel, type Publisher } from '../base/index.ts';
import type { Rejection } from './record/record-codec.ts';

/**
 * Checks a duration that a store is given. A NaN would be stored as the time of a lease or a slot, for all processes.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function durationMs(
  name: 'ttlMs' | 'delayMs' | 'pauseMs' | 'minWaitMs' | 'slackMs',
  value: number,
): number {
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

/** A value that has not expired. */
export interface StoreEntry {
  readonly key: string;
  readonly value: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** A lease with a token of its own. */
export interface FencedLease extends StoreLease {
  readonly token: string;
}

export interface StoreSetOptions {
  /** The time to keep the value, in milliseconds. */
  readonly ttlMs: number;
  /**
   * Fencing token of the lease under which the value was made. A store with fencing ignores the write if the stored
   * value was written under a later lease, so that a late holder overwrites nothing newer.
   */
  readonly fence?: string;
}

export interface StoreLeaseOptions {
  /**
   * The key of the value that is written under the lease, so that a store can read it in the same step
   * ({@link StoreLease.value}), and write it and release the lease in one ({@link StoreLease.setAndRelease}).
   */
  readonly valueKey?: string;
}

/** The bounds of a booking, in milliseconds from now. */
export interface StoreReserveOptions {
  /** The slot comes no earlier. @default 0 */
  readonly minWaitMs?: number;
  /** A slot that would come later is not booked. @default Infinity */
  readonly maxWaitMs?: number;
  /** The caller waits no longer for the answer. A store that keeps calls in a queue does not book after that. */
  readonly deadlineMs?: number;
  /** How long the slot lasts: the gap after it counts from its end. For a member that is often late. @default 0 */
  readonly slackMs?: number;
}

/** A booked slot, and the pause that is in force: whoever books learns of the pauses of others. */
export interface StoreSlot {
  /** Milliseconds from now until the slot. More than `maxWaitMs`: it was not booked. */
  readonly waitMs: number;
  /** Milliseconds from now until the end of the pause in force, 0 without one. */
  readonly pauseMs: number;
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
   * value itself: the previous holder of the lease may have written it.
   */
  readonly value?: string | null;
  /**
   * Does what `set` does to `valueKey`, fenced by this lease, and releases the lease, in one step. Without it the
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
   * Books the next slot of `key`, by the store's own clock: not during a pause, and `delayMs` after the last one that any
   * client booked, or the delay of that one, if it was longer. When that clock was set back, waits go on from where they
   * were.
   *
   * @returns milliseconds from now until the slot, more than `maxWaitMs` when it was not booked; a store with `pause`
   * returns a {@link StoreSlot}, which has the pause in force, too.
   */
  reserve?(key: string, delayMs: number, options?: StoreReserveOptions): Promise<number | StoreSlot>;
  /**
   * Moves the schedule of `key` past a pause of at least `pauseMs` from now; 0 only asks. Booked slots
   * stay. Without this method only the process that saw the pause observes it.
   *
   * @returns milliseconds from now until the end of the pause in force, 0 without one.
   */
  pause?(key: string, pauseMs: number): Promise<number>;
  /**
   * The store's clock, in epoch milliseconds. With it records have the store's times, so that the clocks of a fleet may
   * differ: a failure is tried again when the fleet's time for it has come. Without it a record from a clock more than
   * 2 minutes ahead is rejected as `future`.
   */
  now?(): Promise<number> | number;
}

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
