import type { Clock } from '../base/index.ts';
import {
  mergeRecords,
  type OriginRecord,
  type Profile,
  recordedAt,
  restartBackoff,
  withSiteSignal,
} from '../lifecycle/index.ts';
import { detachedString } from '../url/index.ts';
import { CacheEvents, type RecordObserver } from './cache-events.ts';
import { CacheEntry } from './entry.ts';
import { RecentEntries } from './recent-entries.ts';

export interface OriginMemoryOptions {
  readonly maxOrigins: number;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly profileOf: (origin: string) => Profile;
  readonly observer?: RecordObserver | undefined;
}

/**
 * The origins in memory, bounded in number and in size. Records decide their own lifetimes.
 *
 * User callbacks may call the client again. So the clock is read before the entries change, and {@link events} are
 * published after it.
 */
export class OriginMemory {
  readonly events: CacheEvents;
  readonly #clock: Clock;
  readonly #profileOf: OriginMemoryOptions['profileOf'];
  readonly #entries: RecentEntries;
  /** The last origin looked up. Consecutive URLs often share it, and a map look-up costs as much as a decision. */
  #lastOrigin = '';
  #lastEntry: CacheEntry | undefined;

  constructor({ maxOrigins, maxBytes, clock, profileOf, observer }: OriginMemoryOptions) {
    this.events = new CacheEvents(observer);
    this.#clock = clock;
    this.#profileOf = profileOf;
    this.#entries = new RecentEntries(maxOrigins, maxBytes, (entry, isEvicted) => {
      if (entry === this.#lastEntry) this.#lastEntry = undefined;
      if (isEvicted) this.events.add(entry.record.origin, 'evict');
    });
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
    this.#lastEntry = this.#entries.get(origin);
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
    return this.#entries.peek(origin);
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
    this.events.observe((observer) => observer.onRecordRestored(merged, entry.profile, true));
    return entry;
  }

  /**
   * Adds a record from outside, unless memory has one at least as late.
   *
   * @returns how many origins were evicted for it; `undefined` when it was not added.
   */
  restore(record: OriginRecord): number | undefined {
    const now = this.#clock.now();
    const known = this.peek(record.origin);
    if (known !== undefined && recordedAt(known.record) >= recordedAt(record)) return undefined;
    const before = this.stats().origins;
    this.merge(record, now);
    const evicted = before + (known === undefined ? 1 : 0) - this.stats().origins;
    this.events.publish();
    return evicted;
  }

  /** Records a site signal. */
  noteSite(origin: string, reachable: boolean): void {
    const known = origin === this.#lastOrigin ? this.get(origin) : this.peek(origin);
    if (known?.record.site?.reachable === reachable) return;
    const now = this.#clock.now();
    const entry = this.peek(origin);
    const { origin: kept = detachedString(origin) } = entry?.record ?? {};
    const { record } = this.keep(withSiteSignal(entry?.record, kept, reachable, now), entry, now);
    this.events.observe((observer) => observer.onSiteSignal(entry?.record, record, reachable, now));
    this.events.publish();
  }

  forget(origin: string): void {
    if (!this.#entries.delete(origin)) return;
    this.events.observe((observer) => observer.onRemoved(origin, 'invalidated'));
    this.events.publish();
  }

  /** Removes all entries. */
  close(): void {
    this.#entries.clear();
  }

  /** All records, least recently used first. */
  records(): OriginRecord[] {
    return Array.from(this.#entries.oldestFirst(), ({ record }) => record);
  }

  stats(): { readonly origins: number; readonly bytes: number } {
    return { origins: this.#entries.size, bytes: this.#entries.bytes };
  }

  #store(record: OriginRecord, previous: CacheEntry | undefined): CacheEntry {
    const entry = new CacheEntry(record, this.#profileOf(record.origin), previous);
    this.#entries.set(entry);
    return entry;
  }

  #resize(entry: CacheEntry): void {
    if (entry.hasChanged) this.#entries.resize(entry);
  }
}
