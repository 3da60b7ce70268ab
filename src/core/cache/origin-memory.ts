import type { LRUCache } from 'lru-cache';
import { type Clock, Lazy, warnOnce } from '../base/index.ts';
import {
  mergeRecords,
  type OriginRecord,
  type Profile,
  restartBackoff,
  withSiteSignal,
} from '../lifecycle/index.ts';
import { detachedString } from '../url/index.ts';
import { CacheEvents, type RecordChange } from './cache-events.ts';
import { CacheEntry } from './entry.ts';

export interface OriginMemoryOptions {
  readonly maxOrigins: number;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly profileOf: (origin: string) => Profile;
  /** The client, for messages about its origins. */
  readonly client: object;
  readonly onRecordChange?: ((change: RecordChange) => void) | undefined;
  /** Whether requests for pages of an origin wait. It is not evicted. */
  readonly isAwaited?: (origin: string) => boolean;
}

/** Of so many evicted origins it is remembered until when their responses would have been fresh. */
const MAX_EVICTED = 100;
/** So many origins are passed over at a time, because requests wait for them. */
const MAX_PASSED_OVER = 100;

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
  readonly #options: OriginMemoryOptions;
  readonly #entries: Lazy<LRUCache<string, CacheEntry>>;
  /** The last origin looked up. Consecutive URLs often share it, and a map look-up costs as much as a decision. */
  #lastOrigin = '';
  #lastEntry: CacheEntry | undefined;
  /** Site signals received before this memory was open. */
  readonly #earlySignals = new Map<string, boolean>();

  /** The first origins that were evicted, and when their responses become stale. */
  readonly #evicted = new Map<string, number>();

  constructor(options: OriginMemoryOptions) {
    this.#options = options;
    this.events = new CacheEvents(options.client, options.onRecordChange);
    this.#entries = new Lazy(async () => {
      const { LRUCache } = await import('lru-cache');
      return new LRUCache<string, CacheEntry>({
        // It counts; `#makeRoom` evicts. With `max` the library fills arrays of that length at once: 12 ms for 50,000.
        maxSize: Number.MAX_SAFE_INTEGER,
        sizeCalculation: (entry) => entry.countBytes(),
        dispose: (entry) => {
          if (entry === this.#lastEntry) this.#lastEntry = undefined;
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
    this.events.addRecordChange({ type: 'backoff-restarted', before: record, after: paused });
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
    this.events.addRecordChange({ type: 'restored', record: merged, profile: entry.profile });
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
    const now = this.#options.clock.now();
    const entry = this.peek(origin);
    const { origin: kept = detachedString(origin) } = entry?.record ?? {};
    this.keep(withSiteSignal(entry?.record, kept, reachable, now), entry, now);
    this.events.addRecordChange({ type: 'signal', origin: kept, reachable, at: now });
    this.events.publish();
  }

  /**
   * Warns the process once when an origin has to be fetched again because others took its place: a crawl that has more
   * origins in turn than memory holds fetches each robots.txt again and again.
   */
  warnIfEvicted(origin: string, now: number): void {
    const freshUntil = this.#evicted.get(origin) ?? -Infinity;
    this.#evicted.delete(origin);
    if (now >= freshUntil) return;
    warnOnce(
      `${origin}/robots.txt is fetched again although it was fresh, because memory is full of other origins: ` +
        'raise `cache: { maxOrigins, maxBytes }`, or give the client a `store`, such as that of canfetch/sqlite',
      'CANFETCH_CACHE_FULL',
    );
  }

  forget(origin: string): void {
    this.#earlySignals.delete(origin);
    this.#evicted.delete(origin);
    if (this.#entries.value?.delete(origin) !== true) return;
    this.events.addRecordChange({ type: 'removed', origin, reason: 'invalidated' });
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
    this.#evicted.clear();
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
    const entry = new CacheEntry(record, this.#options.profileOf(record.origin), previous);
    const entries = this.#opened;
    entries.set(record.origin, entry);
    this.#makeRoom(entries, record.origin);
    return entry;
  }

  /** Evicts the least recently used, but not the `newest`: a single file larger than the whole bound is kept, alone. */
  #makeRoom(entries: LRUCache<string, CacheEntry>, newest: string): void {
    for (let passedOver = 0; passedOver < MAX_PASSED_OVER;) {
      if (entries.size <= this.#options.maxOrigins && entries.calculatedSize <= this.#options.maxBytes)
        return;
      const origin = entries.rkeys().next().value;
      if (origin === undefined || origin === newest) return;
      if (this.#options.isAwaited?.(origin) === true) {
        passedOver++;
        // It becomes the most recently used.
        entries.get(origin);
      } else this.#evict(entries, origin);
    }
  }

  #evict(entries: LRUCache<string, CacheEntry>, origin: string): void {
    const staleAt = entries.peek(origin)?.record.answer?.staleAt;
    entries.delete(origin);
    this.events.add(origin, 'evict');
    if (staleAt !== undefined && this.#evicted.size < MAX_EVICTED) this.#evicted.set(origin, staleAt);
  }

  #resize(entry: CacheEntry): void {
    if (!entry.hasChanged) return;
    const { origin } = entry.record;
    if (this.peek(origin) !== entry) return;
    // The size is computed only on insert.
    const entries = this.#opened;
    entries.delete(origin);
    entries.set(origin, entry);
    this.#makeRoom(entries, origin);
  }

  get #opened(): LRUCache<string, CacheEntry> {
    const { value: entries } = this.#entries;
    if (entries === undefined) throw new Error('Expected memory to be opened before a record is kept');
    return entries;
  }
}
