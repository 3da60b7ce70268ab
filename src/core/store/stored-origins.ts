import { abortSignalOf, type Clock, sleepWith, type LightAbortSignal } from '../base/index.ts';
import {
  shiftBack,
  type OriginRecord,
  mergeRecords,
  type Profile,
  recordedAt,
  retentionMs,
} from '../lifecycle/index.ts';
import { backgroundDeadlineMs, inTime, type CallResult, StoreCaller, StoreClock } from './store-caller.ts';
import { SharedSchedule } from './shared-schedule.ts';
import { type HeldLease, Leases, type AcquiredLease } from './leases.ts';
import type { RecordCodec } from './record/record-codec.ts';
import { MAX_ORIGIN_LENGTH, namespaceKey, storeKey } from './store-key.ts';
import type { RobotsStore, StoreEvent } from './store.ts';
import { type Write, WriteBehind } from './write-behind.ts';

/** The settings of a client that concern its store. */
export interface StoreSettings {
  readonly store: RobotsStore;
  /** Milliseconds of real time for each call. See {@link backgroundDeadlineMs}. */
  readonly storeDeadlineMs: number;
  readonly onStoreEvent: (event: StoreEvent) => void;
  /** The client's own agent. Requests carry the first token. */
  readonly tokens: readonly [string, ...string[]];
  readonly addressPolicy: string;
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly random: () => number;
}

/** The result of a search in the store. */
export type SearchResult =
  | { readonly kind: 'found'; readonly record: OriginRecord }
  /** robots.txt must be fetched. `record`: an older record, if any. `lease`: the lease to hold during the fetch. */
  | { readonly kind: 'needs-fetch'; readonly record?: OriginRecord | undefined; readonly lease?: HeldLease };

/** The result of a read. */
type Read = (
  | { readonly ok: false }
  | { readonly ok: true; readonly value: unknown; readonly stored: OriginRecord | undefined }
) & {
  /** The record in the store, or a pending write of ours. */
  readonly record: OriginRecord | undefined;
};

/** A lease lasts little longer than the attempt: its holder may have died. */
const LEASE_MARGIN_MS = 2_000;
const MAX_LEASE_MS = 30_000;
const INITIAL_PAUSE_MS = 25;
const MAX_PAUSE_MS = 500;

/**
 * The origins in a client's store. Records are validated when read, written in the background, and fetched by one process at a
 * time. Methods reject only for an aborted signal. No call takes longer than its deadline, except waiting for another
 * process's fetch.
 */
export class StoredOrigins {
  /** The schedules of the fleet; `undefined` if the store has none. */
  readonly fleet: SharedSchedule | undefined;

  readonly #settings: StoreSettings;
  readonly #codec: RecordCodec;
  readonly #profileOf: (origin: string) => Profile;
  readonly #namespace: string;
  readonly #leaseMs: number;
  readonly #caller: StoreCaller;
  readonly #clock: StoreClock;
  readonly #leases: Leases;
  readonly #writes: WriteBehind;
  #closing = false;

  constructor(settings: StoreSettings, codec: RecordCodec, profileOf: (origin: string) => Profile) {
    const { store, storeDeadlineMs, onStoreEvent, clock, tokens, addressPolicy } = settings;
    this.#settings = settings;
    this.#codec = codec;
    this.#profileOf = profileOf;
    this.#namespace = namespaceKey({ token: tokens[0], addressPolicy });
    this.#leaseMs = Math.min(settings.deadlineMs + LEASE_MARGIN_MS, MAX_LEASE_MS);
    this.#caller = new StoreCaller({ deadlineMs: storeDeadlineMs, clock, onEvent: onStoreEvent });
    this.#clock = new StoreClock(settings, this.#caller);
    this.#leases = new Leases({ store, leaseMs: this.#leaseMs, namespace: this.#namespace }, this.#caller);
    this.fleet = store.reserve && new SharedSchedule(store, this.#caller);
    this.#writes = new WriteBehind({
      send: (origin, write, isFirst) => this.#send(origin, write, isFirst),
      allowance: () => this.#caller.writeAllowance(),
      onDropped: (origin, { kind: operation }) => this.#caller.report({ type: 'dropped', operation, origin }),
    });
  }

  /**
   * Looks for a record of `origin` that `isUsable` accepts. If there is none, robots.txt must be fetched, under
   * a lease if the store has leases. While another process holds the lease, this waits for its record.
   *
   * @throws the reason of an aborted signal.
   */
  async find(
    origin: string,
    isUsable: (record: OriginRecord) => boolean,
    signal: LightAbortSignal,
  ): Promise<SearchResult> {
    if (origin.length > MAX_ORIGIN_LENGTH) return { kind: 'needs-fetch' };
    const { store } = this.#settings;
    this.#writes.drain();
    let pauseMs = INITIAL_PAUSE_MS;
    for (let waitedMs = 0; ;) {
      const read = await this.#read(origin);
      signal.throwIfAborted();
      const { record } = read;
      if (record !== undefined && isUsable(record)) return { kind: 'found', record };
      // Two lease times are enough for one holder to die and another to fetch. After that, do not trust the leases.
      if (!read.ok || store.lease === undefined || waitedMs > 2 * this.#leaseMs)
        return { kind: 'needs-fetch', record };
      const acquired = await this.#leases.acquire(origin);
      if (acquired.kind === 'unavailable') return { kind: 'needs-fetch', record };
      if (acquired.kind === 'acquired') return this.#findUnderLease(origin, isUsable, acquired.lease, read);
      const jitteredMs = pauseMs * (1 - 0.5 * this.#settings.random());
      await sleepWith(this.#settings.clock, jitteredMs, abortSignalOf(signal));
      waitedMs += jitteredMs;
      pauseMs = Math.min(pauseMs * 1.5, MAX_PAUSE_MS);
    }
  }

  /**
   * Writes a record. Resolves when the write was tried, or is queued because the store is suspended.
   *
   * @param lease The lease of the fetch. The store drops the write if a later holder has written.
   */
  async remember(record: OriginRecord, lease?: HeldLease): Promise<void> {
    if (record.origin.length > MAX_ORIGIN_LENGTH || this.#closing) return;
    await this.#writes.enqueue(record.origin, { kind: 'set', record, lease });
  }

  /** Deletes the record of `origin`, now or when the store can be reached again. */
  async forget(origin: string): Promise<void> {
    if (origin.length > MAX_ORIGIN_LENGTH || this.#closing) return;
    await this.#writes.enqueue(origin, { kind: 'delete', at: this.#settings.clock.now() });
  }

  /** Sends the queued writes after `others` has settled. Takes at most one background deadline. */
  async close(others: Promise<unknown>): Promise<void> {
    this.#closing = true;
    this.fleet?.close();
    const ended = others.then(() => this.#writes.flush()).then(() => this.#leases.released());
    await inTime(ended, backgroundDeadlineMs(this.#settings.storeDeadlineMs), true);
    this.#writes.abandon();
  }

  /** Reads again under the lease: the previous holder may have written since. */
  async #findUnderLease(
    origin: string,
    isUsable: (record: OriginRecord) => boolean,
    { value, ...lease }: AcquiredLease,
    before: Read,
  ): Promise<SearchResult> {
    const { record = before.record } =
      value === undefined
        ? await this.#read(origin, before)
        : await this.#decodeRead(origin, { ok: true, value: value ?? undefined }, before);
    if (record === undefined || !isUsable(record)) return { kind: 'needs-fetch', record, lease };
    void lease.release();
    return { kind: 'found', record };
  }

  /** Reads the stored record, or a pending write of ours. A value equal to `before` is not decoded again. */
  async #read(origin: string, before?: Read): Promise<Read> {
    const { store } = this.#settings;
    const called = await this.#caller.call<unknown>({
      operation: 'get',
      origin,
      send: () => store.get(this.#key(origin)),
    });
    return this.#decodeRead(origin, called, before);
  }

  /** Decodes a value that a call has read. */
  async #decodeRead(origin: string, called: CallResult<unknown>, before?: Read): Promise<Read> {
    const value = called.ok ? called.value : undefined;
    const isKnown = before?.ok === true && value === before.value;
    const stored = isKnown ? before.stored : await this.#decode(origin, value);
    const pending = this.#writes.pending(origin);
    const written = pending?.kind === 'set' ? pending.record : undefined;
    if (!called.ok) return { ok: false, record: written };
    const isDeleted = stored !== undefined && pending?.kind === 'delete' && recordedAt(stored) <= pending.at;
    const record = stored === undefined || isDeleted ? written : mergeRecords(stored, written);
    return { ok: true, value, stored, record };
  }

  async #decode(origin: string, value: unknown): Promise<OriginRecord | undefined> {
    if (value === undefined || value === null) return undefined;
    const ahead = this.#clock.aheadMs(origin, true);
    const aheadMs = typeof ahead === 'number' ? ahead : await ahead;
    const now = this.#settings.clock.now() + aheadMs;
    const { record, rejected } = this.#codec.decode(value, now, origin);
    if (rejected !== undefined) this.#caller.report({ type: 'rejected', origin, reason: rejected });
    return record && shiftBack(record, aheadMs);
  }

  async #send(origin: string, write: Write, isFirst: boolean): Promise<boolean> {
    const { store, clock } = this.#settings;
    const key = this.#key(origin);
    const common = { origin, background: true, regardless: this.#closing };
    if (write.kind === 'delete') {
      const send = (): Promise<void> | void => store.delete(key);
      return (await this.#caller.call({ ...common, operation: 'delete', send })).ok;
    }
    const ttlMs = Math.max(1, retentionMs(write.record, this.#profileOf(origin), clock.now()));
    const ahead = this.#clock.aheadMs(origin, false);
    // Await only if needed: without one, this call keeps its place before later calls.
    const aheadMs = typeof ahead === 'number' ? ahead : await ahead;
    const { setAndRelease, token: fence } = write.lease ?? {};
    const send = (): Promise<void> | void => {
      const value = this.#codec.encode(shiftBack(write.record, -aheadMs));
      // The lease is released after the first try.
      if (setAndRelease !== undefined && isFirst) return setAndRelease(value, ttlMs);
      return store.set(key, value, fence === undefined ? { ttlMs } : { ttlMs, fence });
    };
    const { ok } = await this.#caller.call({ ...common, operation: 'set', send });
    // The store may have become reachable after its clock was compared: then write again with shifted times.
    const isByItsClock = !ok || (await this.#clock.aheadMs(origin, true)) === aheadMs;
    return isByItsClock ? ok : this.#send(origin, write, false);
  }

  #key(origin: string): string {
    return storeKey('record', this.#namespace, origin);
  }
}
