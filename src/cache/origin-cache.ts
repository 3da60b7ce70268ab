import type { Clock, StopSignal } from '../base/index.ts';
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
import { cacheChannels, type HeldLease, type StoredOrigins } from '../store/index.ts';
import { flatCopy, ROBOTS_PATH } from '../url/index.ts';
import { CacheEntry } from './entry.ts';
import { tellPolicyChange } from './policy-change.ts';
import { SingleFlight } from './single-flight.ts';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';

export interface OriginCacheOptions {
  readonly maxOrigins: number;
  readonly maxBytes: number;
  /** Questions in flight at most, those that ask the store included. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly profileOf: (origin: string) => Profile;
  /** Fetches robots.txt once. Rejects only with the reason of `signal`. */
  readonly attempt: (origin: string, known: OriginRecord | undefined, signal: StopSignal) => Promise<Outcome>;
  /** Where records outlive this memory, and are shared. */
  readonly stored?: StoredOrigins | undefined;
}

/** What a question that had to wait is answered by. */
export interface Arrival {
  readonly entry: CacheEntry;
  readonly source: 'store' | 'network';
}

const DUE_LEAST_FIRST: readonly Due[] = ['none', 'ahead', 'now'];

/**
 * What is known of origins: remembered within bounds, asked for once at a time, refreshed ahead of its end.
 *
 * `lru-cache` is used as a bounded map only. How long a record holds is told by the record: LRU lifetimes know
 * neither failures nor good copies.
 */
export class OriginCache {
  private readonly options: OriginCacheOptions;
  private readonly entries: LRUCache<string, CacheEntry>;
  private readonly flights = new SingleFlight<Arrival>();
  /** What flights do, to the end: some of it comes after their landing. */
  private readonly running = new Set<Promise<unknown>>();
  private readonly limit: LimitFunction;
  private attempts = 0;
  /** The origin asked about last: links come in bundles, and a look-up costs as much as a decision. */
  private lastOrigin = '';
  private lastEntry: CacheEntry | undefined;

  constructor(options: OriginCacheOptions) {
    this.options = options;
    this.entries = new LRUCache({
      max: options.maxOrigins,
      maxSize: options.maxBytes,
      // A single file that is reckoned larger than all memory is kept all the same, alone.
      sizeCalculation: (entry) => Math.min(entry.reckon(), options.maxBytes),
      dispose: (entry, origin, reason) => {
        if (entry === this.lastEntry) this.lastEntry = undefined;
        if (reason === 'evict' && cacheChannels.cache.hasSubscribers) {
          cacheChannels.cache.publish({ origin, event: 'evict' });
        }
      },
    });
    this.limit = pLimit(options.concurrency);
  }

  /** What memory holds, however old. */
  recall(origin: string): CacheEntry | undefined {
    const last = this.lastEntry;
    if (last !== undefined) {
      if (origin === this.lastOrigin) return last;
      this.reckon(last);
    }
    this.lastEntry = this.entries.get(origin);
    this.lastOrigin = origin;
    return this.lastEntry;
  }

  /**
   * Reckons an entry anew, when rules were compiled for an agent since, or descriptions kept. Questions do this for the
   * entry that was asked before: nothing need be looked at as long as they are about one origin.
   */
  reckon(entry: CacheEntry): void {
    if (entry.sizeBytes === entry.reckonedBytes) return;
    const { origin } = entry.record;
    if (this.entries.peek(origin) !== entry) return;
    // The library reckons only what is new to it.
    this.entries.delete(origin);
    this.entries.set(origin, entry);
  }

  /** Starts a refresh that nobody waits for; false when one is under way. */
  refresh(origin: string): boolean {
    if (this.flights.has(origin)) return false;
    this.fetch(origin).catch(() => undefined);
    return true;
  }

  /** A new answer for `origin`, from the store or the origin: shared with everybody who asks meanwhile. */
  fetch(origin: string, signal?: AbortSignal): Promise<Arrival> {
    return this.flights.join(
      origin,
      // What the store says is waited for within the bound: a call has a deadline, and our queue is not to eat it.
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

  /** Everything memory holds, the least recently used first. */
  records(): OriginRecord[] {
    return [...this.entries.rvalues()].flatMap((entry) => (entry === undefined ? [] : [entry.record]));
  }

  /**
   * Takes a record from elsewhere into memory, unless that knows something as late.
   *
   * @returns how many origins had to leave memory for it; `undefined` when it was not taken.
   */
  restore(record: OriginRecord): number | undefined {
    const known = this.entries.peek(record.origin);
    if (known !== undefined && recordedAt(known.record) >= recordedAt(record)) return undefined;
    const before = this.entries.size;
    this.learn(record, true);
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

  /** Rejects everybody who waits with `reason`, forgets everything, and ends what there is to write. */
  async close(reason: unknown): Promise<void> {
    this.flights.abortAll(reason);
    this.limit.clearQueue();
    this.entries.clear();
    await this.options.stored?.close(Promise.allSettled(this.running));
  }

  private async resolve(asked: string, signal: StopSignal, isCurrent: () => boolean): Promise<Arrival> {
    // Everybody may have left while it stood in the queue: then it is never sent.
    signal.throwIfAborted();
    const origin = flatCopy(asked);
    const { stored } = this.options;
    if (stored === undefined) return this.ask(origin, this.entries.peek(origin), signal, isCurrent);
    const found = await stored.find(origin, (record) => this.improves(record), signal);
    const known = found.record === undefined ? undefined : this.learn(found.record, isCurrent());
    if (found.kind === 'answered' && known !== undefined) return { entry: known, source: 'store' };
    const lease = found.kind === 'to-ask' ? found.lease : undefined;
    return this.ask(origin, known ?? this.entries.peek(origin), signal, isCurrent, lease);
  }

  /** Whether a record from elsewhere makes an attempt needless, or at least less urgent, than what memory holds. */
  private improves(record: OriginRecord): boolean {
    const known = this.entries.peek(record.origin)?.record;
    const profile = this.options.profileOf(record.origin);
    const now = this.options.clock.now();
    const urgency = (one: OriginRecord | undefined): number =>
      DUE_LEAST_FIRST.indexOf(attemptDue(one, profile, now));
    const isNewer = known === undefined || recordedAt(record) > recordedAt(known);
    return isNewer && urgency(record) < urgency(known);
  }

  /** An entry of what memory and a record from elsewhere tell together. */
  private learn(record: OriginRecord, isCurrent: boolean): CacheEntry {
    const known = isCurrent ? this.entries.peek(record.origin) : undefined;
    const merged = known === undefined ? record : newest(known.record, record);
    if (known !== undefined && merged === known.record) return known;
    return isCurrent
      ? this.remember(merged, known)
      : new CacheEntry(merged, this.options.profileOf(record.origin), known);
  }

  /** Asks the origin. A lease is given back when everybody can read what came of it. */
  private async ask(
    origin: string,
    known: CacheEntry | undefined,
    signal: StopSignal,
    isCurrent: () => boolean,
    lease?: HeldLease,
  ): Promise<Arrival> {
    let written: Promise<void> | undefined;
    try {
      signal.throwIfAborted();
      this.attempts++;
      const outcome = await this.options.attempt(origin, known?.record, signal);
      signal.throwIfAborted();
      // Site signals may have come in meanwhile; and memory may have had no room for what was known.
      const previous =
        known === undefined && isCurrent()
          ? this.entries.peek(origin)
          : known && this.learn(known.record, isCurrent());
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
   * A file reached by redirects speaks for the origin that served it as well, but only as that origin's own
   * `/robots.txt`, and only good news: a refusal may be meant for this path alone.
   */
  private share(origin: string, outcome: Outcome): void {
    if (outcome.kind !== 'success' || outcome.hops === 0) return;
    const server = new URL(outcome.finalUrl).origin;
    if (server === origin || outcome.finalUrl !== server + ROBOTS_PATH) return;
    const known = this.entries.peek(server);
    const profile = this.options.profileOf(server);
    const now = this.options.clock.now();
    // A failure ends with any good answer, also one that was not asked for.
    const fresh = known !== undefined && attemptDue(known.record, profile, now) !== 'now';
    if (fresh && known.record.failure === undefined) return;
    const record = this.advance(server, known, unredirected(outcome));
    void this.options.stored?.remember(record);
    this.remember(record, known);
  }

  private remember(record: OriginRecord, previous: CacheEntry | undefined): CacheEntry {
    const entry = new CacheEntry(record, this.options.profileOf(record.origin), previous);
    this.entries.set(record.origin, entry);
    if (cacheChannels.policyChange.hasSubscribers)
      tellPolicyChange(entry, previous, this.options.clock.now());
    return entry;
  }

  private track<Value>(work: Promise<Value>): Promise<Value> {
    this.running.add(work);
    const ended = (): void => void this.running.delete(work);
    work.then(ended, ended);
    return work;
  }
}
