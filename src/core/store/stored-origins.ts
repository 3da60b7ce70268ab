import { abortSignalOf, ignore, sleepWith, type LightAbortSignal } from '../base/index.ts';
import { type OriginRecord, type Profile, recordedAt, retentionMs } from '../lifecycle/index.ts';
import { inTime, StoreCaller, type StoreCallSettings } from './store-caller.ts';
import { SharedSchedule } from './shared-schedule.ts';
import { namespaceKey, type RecordCodec, storeKey } from './record-codec.ts';
import type { RobotsStore, StoreLease } from './store.ts';

/** The settings of a client that concern its store. */
export interface StoreSettings extends StoreCallSettings {
  readonly store: RobotsStore;
  /** The client's own agent. Requests carry the first token. */
  readonly tokens: readonly [string, ...string[]];
  readonly addressPolicy: string;
  readonly deadlineMs: number;
  readonly random: () => number;
}

/** A lease that this process holds. */
export interface HeldLease {
  /** Settles within the store's deadline. Never rejects. */
  release(): Promise<void>;
}

/** The result of a search in the store. */
export type SearchResult =
  | { readonly kind: 'found'; readonly record: OriginRecord }
  /** robots.txt must be fetched. `record`: an older record, if any. `lease`: the lease to hold during the fetch. */
  | { readonly kind: 'needs-fetch'; readonly record?: OriginRecord | undefined; readonly lease?: HeldLease };

/** The result of a read. */
interface Read {
  readonly ok: boolean;
  readonly value?: unknown;
  readonly record?: OriginRecord | undefined;
}

/** A lease lasts little longer than the attempt: its holder may have died. */
const LEASE_MARGIN_MS = 2_000;
const MAX_LEASE_MS = 30_000;
const INITIAL_PAUSE_MS = 25;
const MAX_PAUSE_MS = 500;

/**
 * The origins in a client's store. Records are validated when read, written in the background, and fetched by one process
 * at a time. Methods reject only for an aborted signal. No call takes longer than its deadline, except waiting for another
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
  /** Writes that are under way, and leases that are held. */
  readonly #pending = new Set<Promise<unknown>>();
  /** When origins were forgotten whose records could not be deleted. */
  readonly #forgotten = new Map<string, number>();
  #isClosing = false;

  constructor(settings: StoreSettings, codec: RecordCodec, profileOf: (origin: string) => Profile) {
    const { store, tokens, addressPolicy, deadlineMs } = settings;
    this.#settings = settings;
    this.#codec = codec;
    this.#profileOf = profileOf;
    this.#namespace = namespaceKey({ token: tokens[0], addressPolicy });
    this.#leaseMs = Math.min(deadlineMs + LEASE_MARGIN_MS, MAX_LEASE_MS);
    this.#caller = new StoreCaller(settings);
    this.fleet = store.reserve && new SharedSchedule(store, this.#caller);
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
    let pauseMs = INITIAL_PAUSE_MS;
    for (let waitedMs = 0; ;) {
      const read = await this.#read(origin);
      signal.throwIfAborted();
      const { record } = read;
      if (record !== undefined && isUsable(record)) return { kind: 'found', record };
      // Two lease times are enough for one holder to die and another to fetch. After that, do not trust the leases.
      const isTrusted = read.ok && this.#settings.store.lease !== undefined && waitedMs <= 2 * this.#leaseMs;
      const lease = isTrusted ? await this.#acquire(origin) : 'unavailable';
      if (lease === 'unavailable') return { kind: 'needs-fetch', record };
      if (lease !== 'held-by-other') return this.#findUnderLease(origin, isUsable, lease, read);
      const jitteredMs = pauseMs * (1 - 0.5 * this.#settings.random());
      await sleepWith(this.#settings.clock, jitteredMs, abortSignalOf(signal));
      waitedMs += jitteredMs;
      pauseMs = Math.min(pauseMs * 1.5, MAX_PAUSE_MS);
    }
  }

  /** Writes a record in the background. Resolves when that has ended, well or not. */
  async remember(record: OriginRecord): Promise<void> {
    const { origin } = record;
    if (this.#isClosing) return;
    const { store, clock } = this.#settings;
    const ttlMs = Math.max(1, retentionMs(record, this.#profileOf(origin), clock.now()));
    const at = recordedAt(record);
    const send = (): Promise<void> | void =>
      store.set(this.#key(origin), this.#codec.encode(record), {
        ttlMs,
        // A record of signals alone replaces no response.
        recordedAt: Number.isFinite(at) ? at : 0,
      });
    await this.#keep(this.#caller.call({ operation: 'set', origin, send, patient: true }));
  }

  /** Deletes the record of `origin`. Where that fails, an event reports it, and this client ignores the record. */
  async forget(origin: string): Promise<void> {
    if (this.#isClosing) return;
    const send = (): Promise<void> | void => this.#settings.store.delete(this.#key(origin));
    this.#forgotten.set(origin, this.#settings.clock.now());
    const call = { operation: 'delete', origin, send, patient: true, regardless: true } as const;
    const deleting = this.#caller.call(call);
    await this.#keep(deleting);
    if ((await deleting).ok) this.#forgotten.delete(origin);
  }

  /** Waits for `others`, and for the writes that are under way. Takes at most one deadline of writes. */
  async close(others: Promise<unknown>): Promise<void> {
    this.#isClosing = true;
    this.fleet?.close();
    const ended = others.then(() => Promise.all(this.#pending));
    await inTime(ended, this.#caller.patientMs);
  }

  /** Reads again under the lease: the previous holder may have written since. */
  async #findUnderLease(
    origin: string,
    isUsable: (record: OriginRecord) => boolean,
    lease: HeldLease,
    before: Read,
  ): Promise<SearchResult> {
    const { record = before.record } = await this.#read(origin, before);
    if (record === undefined || !isUsable(record)) return { kind: 'needs-fetch', record, lease };
    void lease.release();
    return { kind: 'found', record };
  }

  /** A value equal to that of `before` is not decoded again. */
  async #read(origin: string, before?: Read): Promise<Read> {
    const { store, clock } = this.#settings;
    const send = (): unknown => store.get(this.#key(origin));
    const called = await this.#caller.call<unknown>({ operation: 'get', origin, send });
    if (!called.ok) return called;
    const { value } = called;
    if (before?.ok === true && value === before.value) return before;
    if (value === undefined || value === null) return { ok: true, value };
    const { record, rejected } = this.#codec.decode(value, clock.now(), origin);
    if (rejected !== undefined) this.#caller.report({ type: 'rejected', origin, reason: rejected });
    const isForgotten =
      record !== undefined && recordedAt(record) <= (this.#forgotten.get(origin) ?? -Infinity);
    return { ok: true, value, record: isForgotten ? undefined : record };
  }

  /** `unavailable`: the call failed, or the store is suspended. */
  async #acquire(origin: string): Promise<HeldLease | 'held-by-other' | 'unavailable'> {
    const { store } = this.#settings;
    let sent: Promise<StoreLease | undefined> | undefined;
    const called = await this.#caller.call<StoreLease | undefined>({
      operation: 'lease',
      origin,
      send: () => (sent = store.lease?.(storeKey('lease', this.#namespace, origin), this.#leaseMs)),
      expectedValue: (lease) =>
        lease === undefined || lease === null || typeof lease.release === 'function'
          ? undefined
          : 'a lease, or undefined while another client holds it',
    });
    if (called.ok) return called.value ? this.#hold(origin, called.value) : 'held-by-other';
    // A lease that arrives late would block all processes until it expires.
    void Promise.resolve(sent)
      .then((lease) => lease?.release())
      .catch(ignore);
    return 'unavailable';
  }

  #hold(origin: string, lease: StoreLease): HeldLease {
    let settle = (): void => {};
    const released = new Promise<void>((resolve) => (settle = resolve));
    void this.#keep(released);
    return {
      release: async () => {
        const send = (): Promise<void> => lease.release();
        // Others wait for the lease, so try even if the store is suspended.
        await this.#caller.call({ operation: 'release', origin, send, patient: true, regardless: true });
        settle();
      },
    };
  }

  async #keep(work: Promise<unknown>): Promise<void> {
    this.#pending.add(work);
    await work;
    this.#pending.delete(work);
  }

  #key(origin: string): string {
    return storeKey('record', this.#namespace, origin);
  }
}
