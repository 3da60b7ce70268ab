import { quote, RobotsInvalidOptionsError } from '../base/index.ts';
import type { OriginState } from '../lifecycle/index.ts';
import type { Rejection } from './record/record-codec.ts';
import { channel } from 'node:diagnostics_channel';

/** `canfetch:cache`: what memory did about an origin. */
export interface CacheMessage {
  readonly origin: string;
  /**
   * - `hit`: memory answered.
   * - `miss`: the question has to wait.
   * - `refresh`: memory answered, and a new answer is fetched ahead of its end.
   * - `evict`: the origin was forgotten to make room.
   */
  readonly event: 'hit' | 'miss' | 'refresh' | 'evict';
}

/** `canfetch:policy-change`: other rules, or another state, are in force for an origin than before. */
export interface PolicyChangeMessage {
  readonly origin: string;
  /** `unknown` when nothing was known before. */
  readonly before: OriginState;
  readonly after: OriginState;
  /** Whether the octets of the file changed. */
  readonly fileChanged: boolean;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What is told through one channel of `node:diagnostics_channel`. */
export interface Publisher<Message> {
  readonly hasSubscribers: boolean;
  publish(message: Message): void;
}

/** The channels on which this room tells what it does. */
export const cacheChannels: {
  readonly cache: Publisher<CacheMessage>;
  readonly policyChange: Publisher<PolicyChangeMessage>;
  /** `canfetch:store`: trouble with the store, or its end. */
  readonly store: Publisher<StoreEvent>;
} = {
  cache: channel('canfetch:cache'),
  policyChange: channel('canfetch:policy-change'),
  store: channel('canfetch:store'),
};

/**
 * `value`, if it is a time a store can keep: a NaN in a timetable would stay there.
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
 * How long a booked slot is remembered beyond its time. Whoever books next with a longer delay than the last one still
 * finds it; delays longer than this keep it for as long as themselves.
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
    }
  | {
      /**
       * A damaged LMDB database was renamed and a new one begun, before any client had the store: only the channel
       * `canfetch:store` tells it, and `setAside` of the store.
       */
      readonly type: 'set-aside';
      readonly path: string;
      readonly movedTo: string;
      readonly reason: string;
    };

/** `get` reads; everything else writes: a store may do one and refuse the other. */
export type StoreCalls = 'reads' | 'writes';

/** A lease that can be told from every other on its key. */
export interface FencedLease extends StoreLease {
  readonly token: string;
}

export interface StoreSetOptions {
  /** For how long the value is kept. Milliseconds. */
  readonly ttlMs: number;
  /**
   * The token of the lease under which the value was learnt. A store whose leases have tokens leaves a value alone that
   * was written under a later lease: whoever held a lease for too long overwrites nothing newer.
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

/** A lease on an origin: whoever holds it is the one who asks for its robots.txt. */
export interface StoreLease {
  /** Unique. Of two leases on one key the later has the greater, compared as text. Without it nothing is fenced. */
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
  /** Gives it back, if it has not run out and gone to another holder meanwhile. */
  release(): Promise<void>;
}

/**
 * Where records outlive the process: what a client's `store` option takes. Keys and values are strings that the
 * client makes; a store keeps them as they are and forgets them when their time is up.
 *
 * A store may fail in any way and at any time. The client gives each call a deadline of its own, reads what comes
 * back with suspicion, and goes on without.
 */
export interface RobotsStore {
  /** The value, or `undefined` when there is none or its time is up. */
  get(key: string): Promise<string | undefined> | string | undefined;
  /**
   * Keeps `value` for `ttlMs` milliseconds, at least that long and not much longer; or does nothing, if `fence` is the
   * token of an earlier lease than the value in force was written under.
   */
  set(key: string, value: string, options: StoreSetOptions): Promise<void> | void;
  delete(key: string): Promise<void> | void;
  /**
   * One fetch per origin in a fleet: a lease for `ttlMs`, or `undefined` while another holds it. Without it every
   * process asks for itself.
   */
  lease?(key: string, ttlMs: number, options?: StoreLeaseOptions): Promise<StoreLease | undefined>;
  /**
   * Books the next slot of `key`, `delayMs` behind the last one that anybody booked, by the store's own clock.
   *
   * @returns milliseconds from now until the slot.
   */
  reserve?(key: string, delayMs: number): Promise<number>;
}
