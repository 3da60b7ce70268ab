import type { Clock, LightAbortSignal } from '../base/index.ts';
import {
  attemptDue,
  type Due,
  newest,
  nextRecord,
  type OriginRecord,
  type Outcome,
  type Profile,
  recordedAt,
  unredirected,
  withSiteSignal,
} from '../lifecycle/index.ts';
import type { HeldLease, StoredOrigins } from '../store/index.ts';
import { flatCopy, ROBOTS_PATH } from '../url/index.ts';
import { cacheChannels } from './channels.ts';
import { CacheEntry } from './entry.ts';
import { publishPolicyChange } from './policy-change.ts';
import { SingleFlight } from './single-flight.ts';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';

export interface OriginCacheOptions {
  readonly maxOrigins: number;
  readonly maxBytes: number;
  /** The most questions in flight, those in their store phase included. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly profileOf: (origin: string) => Profile;
  /** Fetches robots.txt once. Rejects only with the reason of `signal`. */
  readonly attempt: (
    origin: string,
    known: OriginRecord | undefined,
    signal: LightAbortSignal,
  ) => Promise<Outcome>;
  /** The store, if there is one. */
  readonly stored?: StoredOrigins | undefined;
}

/** The result of a question that had to wait. */
export interface Arrival {
  readonly entry: CacheEntry;
  readonly source: 'store' | 'network';
}

const DUE_LEAST_FIRST: readonly Due[] = ['none', 'ahead', 'now'];

/**
 * The origins in memory, within bounds; one flight per origin; refreshes ahead of the end of a lifetime.
 *
 * `lru-cache` is used as a bounded map only. The record decides how long it holds: lifetimes of an LRU cache do not
 * cover failures and good copies.
 */
export class OriginCache {
  private readonly options: OriginCacheOptions;
  private readonly entries: LRUCache<string, CacheEntry>;
  private readonly flights = new SingleFlight<Arrival>();
  /** The work of flights, including the part after their result is known. */
  private readonly running = new Set<Promise<unknown>>();
  private readonly limit: LimitFunction;
  private attempts = 0;
  /** The last origin asked for. Consecutive URLs often share it, and a map look-up costs as much as a decision. */
  private lastOrigin = '';
  private lastEntry: CacheEntry | undefined;

  constructor(options: OriginCacheOptions) {
    this.options = options;
    this.entries = new LRUCache({
      // Not `max`, for which the library fills arrays of that length at once: 12 ms for 50,000 origins. See
      // `remember()`.
      maxSize: options.maxBytes,
      // A single file larger than the whole bound is kept, alone.
      sizeCalculation: (entry) => Math.min(entry.updateSize(), options.maxBytes),
      dispose: (entry, origin, reason) => {
        if (entry === this.lastEntry) this.lastEntry = undefined;
        if (reason === 'evict' && cacheChannels.cache.hasSubscribers) {
          cacheChannels.cache.publish({ origin, event: 'evict' });
        }
      },
    });
    this.limit = pLimit(options.concurrency);
  }

  /** The entry in memory, whatever its age. */
  recall(origin: string): CacheEntry | undefined {
    const last = this.lastEntry;
    if (last !== undefined) {
      if (origin === this.lastOrigin) return last;
      this.updateSize(last);
    }
    this.lastEntry = this.entries.get(origin);
    this.lastOrigin = origin;
    return this.lastEntry;
  }

  /**
   * Updates the size of an entry after rules were compiled for an agent, or descriptions cached. Questions do this for
   * the entry that was asked before: nothing need be looked at as long as they are about one origin.
   */
  updateSize(entry: CacheEntry): void {
    if (!entry.hasChanged) return;
    const { origin } = entry.record;
    if (this.entries.peek(origin) !== entry) return;
    // The library reckons only what is new to it.
    this.entries.delete(origin);
    this.entries.set(origin, entry);
  }

  /** Starts a refresh in the background. Returns false when one is in flight already. */
  refresh(origin: string): boolean {
    if (this.flights.has(origin)) return false;
    this.fetch(origin).catch(() => undefined);
    return true;
  }

  /** Gets a new answer for `origin`, from the store or from the origin. Concurrent callers share it. */
  fetch(origin: string, signal?: AbortSignal): Promise<Arrival> {
    return this.flights.join(
      origin,
      // The store phase counts towards `concurrency`. Store calls have a deadline, which must not pass in our own
      // queue.
      (flight, isCurrent) => this.limit(() => this.track(this.resolve(origin, flight, isCurrent))),
      signal,
    );
  }

  reportSite(origin: string, reachable: boolean): void {
    const entry = origin === this.lastOrigin ? this.recall(origin) : this.entries.peek(origin);
    if (entry?.record.site?.reachable === reachable) return;
    this.remember(
      withSiteSignal(
        entry?.record,
        entry?.record.origin ?? flatCopy(origin),
        reachable,
        this.options.clock.now(),
      ),
      entry,
    );
  }

  /** A fetch already in flight still answers its waiters, but its result is not cached. */
  async forget(origin: string): Promise<void> {
    this.flights.detach(origin);
    this.entries.delete(origin);
    await this.options.stored?.forget(origin);
  }

  /** All records in memory, least recently used first. */
  records(): OriginRecord[] {
    return [...this.entries.rvalues()].flatMap((entry) => (entry === undefined ? [] : [entry.record]));
  }

  /**
   * Adds a record from outside, unless memory has one that is as late.
   *
   * @returns how many origins were evicted for it; `undefined` when it was not added.
   */
  restore(record: OriginRecord): number | undefined {
    const known = this.entries.peek(record.origin);
    if (known !== undefined && recordedAt(known.record) >= recordedAt(record)) return undefined;
    const before = this.entries.size;
    this.enter(record, true);
    return before + (known === undefined ? 1 : 0) - this.entries.size;
  }

  stats(): { origins: number; bytes: number; attempts: number; inFlight: number } {
    return {
      origins: this.entries.size,
      bytes: this.entries.calculatedSize,
      attempts: this.attempts,
      inFlight: this.flights.size,
    };
  }

  /** Rejects all waiting questions with `reason`, forgets all entries, and finishes writes. */
  async close(reason: unknown): Promise<void> {
    this.flights.abortAll(reason);
    this.limit.clearQueue();
    this.entries.clear();
    await this.options.stored?.close(Promise.allSettled(this.running));
  }

  private async resolve(asked: string, signal: LightAbortSignal, isCurrent: () => boolean): Promise<Arrival> {
    // All callers may have left while the flight was queued. It is then never sent.
    signal.throwIfAborted();
    const origin = flatCopy(asked);
    const { stored } = this.options;
    if (stored === undefined) return this.ask(origin, this.entries.peek(origin), signal, isCurrent);
    const found = await stored.find(origin, (record) => this.improves(record), signal);
    const known = found.record === undefined ? undefined : this.enter(found.record, isCurrent());
    if (found.kind === 'answered' && known !== undefined) return { entry: known, source: 'store' };
    const lease = found.kind === 'to-ask' ? found.lease : undefined;
    return this.ask(origin, known ?? this.entries.peek(origin), signal, isCurrent, lease);
  }

  /** Whether a record from outside makes an attempt unnecessary, or less urgent than the record in memory does. */
  private improves(record: OriginRecord): boolean {
    const known = this.entries.peek(record.origin)?.record;
    const profile = this.options.profileOf(record.origin);
    const now = this.options.clock.now();
    const urgency = (one: OriginRecord | undefined): number =>
      DUE_LEAST_FIRST.indexOf(attemptDue(one, profile, now));
    const isNewer = known === undefined || recordedAt(record) > recordedAt(known);
    return isNewer && urgency(record) < urgency(known);
  }

  /** Makes an entry from the record in memory and a record from outside. */
  private enter(record: OriginRecord, isCurrent: boolean): CacheEntry {
    const known = isCurrent ? this.entries.peek(record.origin) : undefined;
    const merged = known === undefined ? record : newest(known.record, record);
    if (known !== undefined && merged === known.record) return known;
    return isCurrent
      ? this.remember(merged, known)
      : new CacheEntry(merged, this.options.profileOf(record.origin), known);
  }

  /** Fetches from the origin. A lease is released when the new record can be read by others. */
  private async ask(
    origin: string,
    known: CacheEntry | undefined,
    signal: LightAbortSignal,
    isCurrent: () => boolean,
    lease?: HeldLease,
  ): Promise<Arrival> {
    let written: Promise<void> | undefined;
    try {
      signal.throwIfAborted();
      this.attempts++;
      const outcome = await this.options.attempt(origin, known?.record, signal);
      signal.throwIfAborted();
      // Site signals may have arrived meanwhile, and memory may have evicted the previous record.
      const previous =
        known === undefined && isCurrent()
          ? this.entries.peek(origin)
          : known && this.enter(known.record, isCurrent());
      const record = this.advance(origin, previous, outcome);
      if (!isCurrent()) {
        return {
          entry: new CacheEntry(record, this.options.profileOf(origin), previous),
          source: 'network',
        };
      }
      this.share(origin, outcome);
      written = this.options.stored?.remember(record, lease);
      return { entry: this.remember(record, previous), source: 'network' };
    } finally {
      if (lease !== undefined) void Promise.resolve(written).then(() => lease.release());
    }
  }

  private advance(origin: string, previous: CacheEntry | undefined, outcome: Outcome): OriginRecord {
    return nextRecord({
      origin,
      previous: previous?.record,
      outcome,
      profile: this.options.profileOf(origin),
      now: this.options.clock.now(),
      random: this.options.random(),
    });
  }

  /**
   * Shares a success that was reached by redirects with the origin that served it. Only if the final URL is that
   * origin's own `/robots.txt`. Other outcomes are not shared: a refusal may be meant for this path only.
   */
  private share(origin: string, outcome: Outcome): void {
    if (outcome.kind !== 'success' || outcome.hops === 0) return;
    const server = new URL(outcome.finalUrl).origin;
    if (server === origin || outcome.finalUrl !== server + ROBOTS_PATH) return;
    const known = this.entries.peek(server);
    const profile = this.options.profileOf(server);
    const now = this.options.clock.now();
    // Any good answer ends a failure, also one from elsewhere.
    const fresh = known !== undefined && attemptDue(known.record, profile, now) !== 'now';
    if (fresh && known.record.failure === undefined) return;
    const record = this.advance(server, known, unredirected(outcome));
    void this.options.stored?.remember(record);
    this.remember(record, known);
  }

  private remember(record: OriginRecord, previous: CacheEntry | undefined): CacheEntry {
    const entry = new CacheEntry(record, this.options.profileOf(record.origin), previous);
    this.entries.set(record.origin, entry);
    // Evicts the least recently used.
    if (this.entries.size > this.options.maxOrigins) this.entries.pop();
    if (cacheChannels.policyChange.hasSubscribers)
      publishPolicyChange(entry, previous, this.options.clock.now());
    return entry;
  }

  private track<Value>(work: Promise<Value>): Promise<Value> {
    this.running.add(work);
    const ended = (): void => void this.running.delete(work);
    work.then(ended, ended);
    return work;
  }
}
