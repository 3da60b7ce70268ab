import type { LRUCache } from 'lru-cache';
import { type Clock, Lazy } from '../base/index.ts';
import {
  mergeRecords,
  type OriginRecord,
  type Profile,
  restartBackoff,
  withSiteSignal,
} from '../lifecycle/index.ts';
import { detachedString } from '../url/index.ts';
import { CacheEvents, type RecordObserver } from './cache-events.ts';
import { CacheEntry } from './entry.ts';

export interface OriginMemoryOptions {
  readonly maxOrigins: number;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly profileOf: (origin: string) => Profile;
  /** The client, for messages about its origins. */
  readonly client: object;
  readonly observer?: RecordObserver | undefined;
}

/**
 * The origins in memory, bounded in number and in size.
 *
 * `lru-cache` is used as a bounded map only. Records decide their own lifetimes: those of an LRU cache do not cover
 * failures and good copies. The map is loaded before the first record is kept, by {@link open}: until then memory is
 * empty.
 *
 * User callbacks may call the client again. So the clock is read before the map changes, and {@link events} are
 * published after it.
 */
export class OriginMemory {
  readonly events: CacheEvents;
  readonly #maxOrigins: number;
  readonly #clock: Clock;
  readonly #profileOf: OriginMemoryOptions['profileOf'];
  readonly #entries: Lazy<LRUCache<string, CacheEntry>>;
  /** The last origin looked up. Consecutive URLs often share it, and a map look-up costs as much as a decision. */
  #lastOrigin = '';
  #lastEntry: CacheEntry | undefined;
  /** Site signals received before this memory was open. */
  readonly #earlySignals = new Map<string, boolean>();

  constructor({ maxOrigins, maxBytes, clock, profileOf, client, observer }: OriginMemoryOptions) {
    this.events = new CacheEvents(client, observer);
    this.#maxOrigins = maxOrigins;
    this.#clock = clock;
    this.#profileOf = profileOf;
    this.#entries = new Lazy(async () => {
      const { LRUCache } = await import('lru-cache');
      return new LRUCache<string, CacheEntry>({
        // Not `max`, for which the library fills arrays of that length at once: 12 ms for 50,000 origins. See `keep()`.
        maxSize: maxBytes,
        // A single file larger than the whole bound is kept, alone.
        sizeCalculation: (entry) => Math.min(entry.countBytes(), maxBytes),
        dispose: (entry, origin, reason) => {
          if (entry === this.#lastEntry) this.#lastEntry = undefined;
          if (reason === 'evict') this.events.add(origin, 'evict');
        },
      });
    });
  }

  /** Loads what keeping records needs. {@link keep} and {@link merge} need it. */
  async open(): Promise<void> {
    await this.#entries.load();
  }

  /**
   * The entry of an origin, whatever its age. Updates recency, and may evict others: publish {@link events} after the
   * decision.
   */
  get(origin: string): CacheEntry | undefined {
    const last = this.#lastEntry;
    if (last !== undefined) {
      if (origin === this.#lastOrigin) return last;
      this.#resize(last);
    }
    this.#lastEntry = this.#entries.value?.get(origin);
    this.#lastOrigin = origin;
    return this.#lastEntry;
  }

  /** {@link get} for a question at `now`. After the clock was set back, the pause of a failure restarts. */
  getAt(origin: string, now: number): CacheEntry | undefined {
    const entry = this.get(origin);
    if (entry?.record.failure === undefined) return entry;
    const { record } = entry;
    const paused = restartBackoff(record, entry.profile, now);
    if (paused === record) return entry;
    this.events.observe((observer) => observer.onBackoffRestarted(record, paused));
    return this.#store(paused, entry);
  }

  /** The entry of an origin. Does not update recency. */
  peek(origin: string): CacheEntry | undefined {
    return this.#entries.value?.peek(origin);
  }

  /** Updates the size of an entry after rules were compiled for an agent, or descriptions cached. */
  updateSize(entry: CacheEntry): void {
    this.#resize(entry);
    this.events.publish();
  }

  /** Makes an entry of a record, and evicts the least recently used when there are too many. */
  keep(record: OriginRecord, previous: CacheEntry | undefined, now: number): CacheEntry {
    const entry = this.#store(record, previous);
    this.events.addChange(entry, previous, now);
    return entry;
  }

  /** Merges a record from outside, such as a store, with the one in memory. */
  merge(record: OriginRecord, now: number): CacheEntry {
    const known = this.peek(record.origin);
    const merged = known === undefined ? record : mergeRecords(known.record, record);
    if (known !== undefined && merged === known.record) return known;
    const entry = this.keep(merged, known, now);
    this.events.observe((observer) => observer.onRecordRestored(merged, entry.profile));
    return entry;
  }

  /** Records a site signal. Opens this memory first if need be. */
  noteSite(origin: string, reachable: boolean): void {
    const early = this.#earlySignals;
    if (this.#entries.value !== undefined && early.size === 0) {
      this.#note(origin, reachable);
      return;
    }
    early.set(origin, reachable);
    const noteEarly = (): void => {
      const latest = early.get(origin);
      early.delete(origin);
      if (latest !== undefined) this.#note(origin, latest);
    };
    // A library that cannot be loaded, and a clock that throws, fail the questions.
    void this.open()
      .then(noteEarly)
      .catch(() => early.delete(origin));
  }

  #note(origin: string, reachable: boolean): void {
    const known = origin === this.#lastOrigin ? this.get(origin) : this.peek(origin);
    if (known?.record.site?.reachable === reachable) return;
    const now = this.#clock.now();
    const entry = this.peek(origin);
    const { origin: kept = detachedString(origin) } = entry?.record ?? {};
    this.keep(withSiteSignal(entry?.record, kept, reachable, now), entry, now);
    this.events.observe((observer) => observer.onSiteSignal(kept, reachable, now));
    this.events.publish();
  }

  forget(origin: string): void {
    this.#earlySignals.delete(origin);
    if (this.#entries.value?.delete(origin) !== true) return;
    this.events.observe((observer) => observer.onRemoved(origin, 'invalidated'));
    this.events.publish();
  }

  /** Forgets every origin. */
  clear(): void {
    for (const { origin } of this.records()) this.forget(origin);
    this.#earlySignals.clear();
  }

  /** Removes all entries, and pending site signals. */
  close(): void {
    this.#earlySignals.clear();
    this.#entries.value?.clear();
  }

  /** All records, least recently used first. */
  records(): OriginRecord[] {
    const entries = [...(this.#entries.value?.rvalues() ?? [])];
    return entries.flatMap((entry) => (entry === undefined ? [] : [entry.record]));
  }

  stats(): { readonly origins: number; readonly bytes: number } {
    const { size = 0, calculatedSize = 0 } = this.#entries.value ?? {};
    return { origins: size, bytes: calculatedSize };
  }

  #store(record: OriginRecord, previous: CacheEntry | undefined): CacheEntry {
    const entry = new CacheEntry(record, this.#profileOf(record.origin), previous);
    const entries = this.#opened;
    entries.set(record.origin, entry);
    if (entries.size > this.#maxOrigins) entries.pop();
    return entry;
  }

  #resize(entry: CacheEntry): void {
    if (!entry.hasChanged) return;
    const { origin } = entry.record;
    if (this.peek(origin) !== entry) return;
    // The size is computed only on insert.
    const entries = this.#opened;
    entries.delete(origin);
    entries.set(origin, entry);
  }

  get #opened(): LRUCache<string, CacheEntry> {
    const { value: entries } = this.#entries;
    if (entries === undefined) throw new Error('Expected memory to be opened before a record is kept');
    return entries;
  }
}
