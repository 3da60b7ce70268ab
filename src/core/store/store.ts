/**
 * What outlives the process: the contract of a store, what it reports, and its diagnostics. The stores themselves are entry
 * points of the package in `src/stores`: nothing here imports them.
 */
import {
  quote,
  RobotsInvalidOptionsError,
  channel,
  type ClientMessage,
  type Publisher,
} from '../base/index.ts';
import type { Pause } from '../decision/index.ts';
import type { Rejection } from './record-codec.ts';

/**
 * Checks a duration that a store is given. A NaN would be stored as the time of a lease or a slot, for all processes.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function durationMs(name: 'ttlMs' | 'delayMs' | 'pauseMs' | 'minWaitMs', value: number): number {
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

export interface StoreSetOptions {
  /** The time to keep the value, in milliseconds. */
  readonly ttlMs: number;
  /**
   * When the response came that the value rests on, in epoch milliseconds. A store that can compare keeps the value of
   * the later response, whichever process writes last. @default now
   */
  readonly recordedAt?: number;
}

/** The bounds of a booking, in milliseconds from now. */
export interface StoreReserveOptions {
  /** The slot comes no earlier. @default 0 */
  readonly minWaitMs?: number;
  /** A slot that would come later is not booked. @default Infinity */
  readonly maxWaitMs?: number;
  /** The caller waits no longer for the answer. A store whose calls wait in a queue does not book after that. */
  readonly deadlineMs?: number;
}

/** The pause that is in force. */
export interface StorePause {
  /** Milliseconds from now until its end, 0 without one. */
  readonly pauseMs: number;
  /** What it was reported with. Absent without a pause, and where a store does not keep it. */
  readonly cause?: PauseCause;
}

/** The site named the time, or it was guessed. */
export type PauseCause = Pause['delayFrom'];

/** A booked slot, and the pause that is in force: a process learns of the pauses of others when it books. */
export interface StoreSlot extends StorePause {
  /** Milliseconds from now until the slot. More than `maxWaitMs`: it was not booked. */
  readonly waitMs: number;
}

/** A lease on an origin. Its holder fetches the robots.txt. */
export interface StoreLease {
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
  /** Keeps `value` for at least `ttlMs` milliseconds, and not much longer. */
  set(key: string, value: string, options: StoreSetOptions): Promise<void> | void;
  delete(key: string): Promise<void> | void;
  /**
   * Takes a lease for `ttlMs`, so that a fleet fetches an origin once. `undefined` while another holds it. Without
   * this method every process fetches by itself.
   */
  lease?(key: string, ttlMs: number): Promise<StoreLease | undefined>;
  /**
   * Books the next slot of `key`, by the store's own clock: not during a pause, and `delayMs` after the last one that any
   * client booked, or the delay of that one, if it was longer. When that clock was set back, waits go on from where they
   * were.
   *
   * @returns `{ waitMs, pauseMs }`, with the `cause` of the pause if the store keeps it. `pauseMs` is 0 without `pause`.
   */
  reserve?(key: string, delayMs: number, options?: StoreReserveOptions): Promise<StoreSlot>;
  /**
   * Moves the schedule of `key` past a pause of at least `pauseMs` from now; 0 only asks. Booked slots
   * stay. Without this method only the process that saw the pause observes it.
   *
   * @param cause Kept with the pause that it makes longer, for the processes that learn of it. A store may leave it out.
   * @returns milliseconds from now until the end of the pause in force, 0 without one; with its `cause` as a
   * {@link StorePause}.
   */
  pause?(key: string, pauseMs: number, cause?: PauseCause): Promise<number | StorePause>;
}

export type StoreOperation = 'get' | 'set' | 'delete' | 'lease' | 'release' | 'reserve' | 'pause';

/**
 * Trouble with the store, and its end. Questions are answered without the store, so an event needs no handling; it is
 * for logs.
 */
export type StoreEvent =
  | {
      /** A call failed, or had not ended by its deadline. A write is not repeated. */
      readonly type: 'failed' | 'timeout';
      readonly operation: StoreOperation;
      /** For `reserve` and `pause` what shares the pace, such as a host. */
      readonly origin: string;
      /** Milliseconds that the call took. What needs the store waited for it. */
      readonly waitedMs: number;
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
      /** After three reads or three writes in a row that failed, these are left out for 3 s. `resumed`: one succeeded. */
      readonly type: 'suspended' | 'resumed';
    }
  | ({
      /** A damaged database was renamed and a new one begun, before a client had the store. Only on the channel. */
      readonly type: 'damaged';
    } & DamagedDatabase);

/** A damaged database that was renamed, and replaced by a new one. */
export interface DamagedDatabase {
  /** The file, now that of the new database. */
  readonly path: string;
  /** The damaged file. It can be deleted. */
  readonly movedTo: string;
  readonly reason: string;
}

/** `canfetch:store`: every {@link StoreEvent}. That of a damaged database has no client. */
export type StoreMessage = StoreEvent & Partial<ClientMessage>;

export const storeChannels: { readonly store: Publisher<StoreMessage> } = {
  store: channel('canfetch:store'),
};
