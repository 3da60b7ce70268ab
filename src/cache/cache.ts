import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import {
  attemptDue,
  nextRecord,
  type OriginRecord,
  type Outcome,
  type Profile,
  type Standing,
  standing,
  unredirected,
  withSiteSignal,
} from '../access/index.ts';
import type { Clock } from '../clock.ts';
import { channels } from '../diagnostics.ts';
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
      dispose: (entry, origin, reason) => {
        if (entry === this.lastEntry) this.lastEntry = undefined;
        if (reason === 'evict' && channels.cache.hasSubscribers) {
          channels.cache.publish({ origin, event: 'evict' });
        }
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

  /** Starts a refresh that nobody waits for; false when one is under way. */
  refresh(origin: string): boolean {
    if (this.flights.has(origin)) return false;
    this.fetch(origin).catch(() => undefined);
    return true;
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
    if (channels.policyChange.hasSubscribers) this.tellChange(entry, previous);
    return entry;
  }

  private tellChange(entry: CacheEntry, previous: CacheEntry | undefined): void {
    const { record, profile } = entry;
    const at = this.options.clock.now();
    const before = stateInForce(previous?.record, profile, at);
    const after = standing(record, profile, at).state;
    const fileChanged = !sameOctets(previous?.record.copy?.body, record.copy?.body);
    if (before === after && !fileChanged) return;
    channels.policyChange.publish({ origin: record.origin, before, after, fileChanged, at });
  }
}

/** The state of a record; of one whose answer has had its time, the state it had until then. */
function stateInForce(record: OriginRecord | undefined, profile: Profile, now: number): Standing['state'] {
  const { state } = standing(record, profile, now);
  const answer = record?.answer;
  return state === 'unknown' && answer !== undefined
    ? standing(record, profile, answer.fetchedAt).state
    : state;
}

function sameOctets(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((octet, index) => octet === other[index]);
}
