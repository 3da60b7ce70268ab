import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import {
  attemptDue,
  nextRecord,
  type OriginRecord,
  type Outcome,
  type Profile,
  unredirected,
  withSiteSignal,
} from '../access/index.ts';
import type { Clock } from '../clock.ts';
import { ROBOTS_PATH } from '../origin.ts';
import { CacheEntry } from './entry.ts';
import { SingleFlight } from './single-flight.ts';

export interface OriginCacheOptions {
  readonly maxOrigins: number;
  readonly maxBytes: number;
  /** Attempts in flight at most. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly profileOf: (origin: string) => Profile;
  /** Fetches robots.txt once. Rejects only with the reason of `signal`. */
  readonly attempt: (
    origin: string,
    known: OriginRecord | undefined,
    signal: AbortSignal,
  ) => Promise<Outcome>;
}

/**
 * What is known of origins: remembered within bounds, asked for once at a time, refreshed ahead of its end.
 *
 * `lru-cache` is used as a bounded map only. How long a record holds is told by the record: LRU lifetimes know
 * neither failures nor good copies.
 */
export class OriginCache {
  private readonly options: OriginCacheOptions;
  private readonly entries: LRUCache<string, CacheEntry>;
  private readonly flights = new SingleFlight<CacheEntry>();
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
      sizeCalculation: (entry) => Math.min(entry.sizeBytes, options.maxBytes),
      dispose: (entry) => {
        if (entry === this.lastEntry) this.lastEntry = undefined;
      },
    });
    this.limit = pLimit(options.concurrency);
  }

  /** What memory holds, however old. */
  recall(origin: string): CacheEntry | undefined {
    if (this.lastEntry !== undefined && origin === this.lastOrigin) return this.lastEntry;
    this.lastEntry = this.entries.get(origin);
    this.lastOrigin = origin;
    return this.lastEntry;
  }

  /** Starts a refresh that nobody waits for, unless one is under way. */
  refresh(origin: string): void {
    if (!this.flights.has(origin)) this.fetch(origin).catch(() => undefined);
  }

  /** A new answer for `origin`: shared with everybody who asks meanwhile. */
  fetch(origin: string, signal?: AbortSignal): Promise<CacheEntry> {
    return this.flights.join(
      origin,
      (flight, isCurrent) => this.limit(() => this.attempt(origin, flight, isCurrent)),
      signal,
    );
  }

  reportSite(origin: string, reachable: boolean): void {
    const entry = origin === this.lastOrigin ? this.recall(origin) : this.entries.peek(origin);
    if (entry?.record.site?.reachable === reachable) return;
    this.remember(withSiteSignal(entry?.record, origin, reachable, this.options.clock.now()), entry);
  }

  /** Also what an attempt under way will bring is for those who wait for it alone. */
  forget(origin: string): void {
    this.flights.detach(origin);
    this.entries.delete(origin);
  }

  stats(): { origins: number; bytes: number; attempts: number; inFlight: number } {
    return {
      origins: this.entries.size,
      bytes: this.entries.calculatedSize,
      attempts: this.attempts,
      inFlight: this.flights.size,
    };
  }

  /** Rejects everybody who waits with `reason` and forgets everything. */
  close(reason: unknown): void {
    this.flights.abortAll(reason);
    this.limit.clearQueue();
    this.entries.clear();
  }

  private async attempt(origin: string, signal: AbortSignal, isCurrent: () => boolean): Promise<CacheEntry> {
    // Everybody may have left while it stood in the queue: then it is never sent.
    signal.throwIfAborted();
    const known = this.entries.peek(origin);
    this.attempts++;
    const outcome = await this.options.attempt(origin, known?.record, signal);
    signal.throwIfAborted();
    // Site signals may have come in meanwhile; and memory may have had no room for what was known.
    const previous = (isCurrent() ? this.entries.peek(origin) : undefined) ?? known;
    const record = this.advance(origin, previous, outcome);
    if (!isCurrent()) return new CacheEntry(record, this.options.profileOf(origin), previous);
    this.share(origin, outcome);
    return this.remember(record, previous);
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
    this.remember(this.advance(server, known, unredirected(outcome)), known);
  }

  private remember(record: OriginRecord, previous: CacheEntry | undefined): CacheEntry {
    const entry = new CacheEntry(record, this.options.profileOf(record.origin), previous);
    this.entries.set(record.origin, entry);
    return entry;
  }
}
