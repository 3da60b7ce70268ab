import { type Clock, ignore, Lazy, type LightAbortSignal, omitUndefined } from '../base/index.ts';
import {
  attemptDue,
  type AttemptDue,
  canServe,
  type EndedAttempt,
  mergeRecords,
  type OriginRecord,
  type Outcome,
  type Profile,
  recordedAt,
  timeInPause,
  withoutRedirects,
} from '../lifecycle/index.ts';
import type { RobotsSource } from '../decision/index.ts';
import type { HeldLease, StoredOrigins } from '../store/stored-origins.ts';
import { detachedString, ROBOTS_PATH } from '../url/index.ts';
import { CacheEntry } from './entry.ts';
import type { OriginMemory } from './origin-memory.ts';
import { Places } from './places.ts';
import { SingleFlight } from './single-flight.ts';

/** The pauses that sites asked for. */
export interface OriginPauses {
  /** The end of the pause in force, in epoch ms. */
  until(origin: string): number | undefined;
  /** The response to a request for robots.txt had this `Retry-After`: a pause, if the status asks for one. */
  ask(origin: string, retryAfter: string, status: number): void;
}

export interface RefresherOptions {
  readonly memory: OriginMemory;
  /** Fetches the robots.txt of `origin` once. Rejects only with the reason of `signal`. */
  readonly attempt: (
    origin: string,
    known: OriginRecord | undefined,
    signal: LightAbortSignal,
  ) => Promise<Outcome>;
  /** Max concurrent refreshes, including those in their store phase. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly profileOf: (origin: string) => Profile;
  /** Whether the response of `origin` would be read as in an attempt for `asked` that was redirected there. */
  readonly isReadAlike: (origin: string, asked: string) => boolean;
  /** The pauses of origins, in which a known robots.txt is not requested. */
  readonly pauses: OriginPauses;
  /** The store, if there is one. */
  readonly stored?: Lazy<StoredOrigins> | undefined;
}

/** The new entry of an origin. */
export interface Refreshed {
  readonly entry: CacheEntry;
  readonly source: 'store' | 'network';
}

/** One refresh in flight. */
interface RefreshContext {
  readonly origin: string;
  /** Aborts when all callers have left. */
  readonly signal: LightAbortSignal;
  /** `false` when the origin was removed meanwhile. */
  readonly isCurrent: () => boolean;
  readonly stored: StoredOrigins | undefined;
  readonly nextRecord: (attempt: EndedAttempt) => OriginRecord;
}

const DUE_LEAST_FIRST: readonly AttemptDue[] = ['none', 'ahead', 'now'];

/**
 * Refreshes the records in memory, from the store or by an attempt: one flight per origin for all callers.
 *
 * `clock`, `random`, the store and subscribers are the user's, and may call the client again. So memory is read and
 * changed without calling them in between; changes are published at the end of a step.
 */
export class OriginRefresher {
  readonly #options: RefresherOptions;
  readonly #memory: OriginMemory;
  readonly #flights = new SingleFlight<Refreshed>();
  /** The work of flights, including the part after their result is known. */
  readonly #running = new Set<Promise<unknown>>();
  readonly #places: Places;
  /** Loaded at the first refresh: decisions need neither dates nor cache directives. Opens memory, too. */
  readonly #lifecycle = new Lazy(async () => {
    const [lifecycle] = await Promise.all([import('../lifecycle/next-record.ts'), this.#memory.open()]);
    return lifecycle;
  });
  #attempts = 0;

  constructor(options: RefresherOptions) {
    this.#options = options;
    this.#memory = options.memory;
    this.#places = new Places(options.concurrency);
  }

  /** The entry of `origin` in memory, or a refreshed one when an attempt is due. */
  async getOrRefresh(
    origin: string,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly entry: CacheEntry; readonly source: RobotsSource['source'] }> {
    const now = this.#options.clock.now();
    const known = this.#memory.getAt(origin, now);
    this.#memory.events.publish();
    const isDue = known === undefined || attemptDue(known.record, known.profile, now) === 'now';
    if (known !== undefined && (!isDue || this.servesInPause(known))) {
      return { entry: known, source: 'memory' };
    }
    return this.refresh(origin, signal);
  }

  /**
   * Refreshes `origin`. Concurrent callers share one flight. A record from the store in the last tenth of its lifetime is
   * refreshed in the background at once: the next question may come after its end.
   */
  async refresh(origin: string, signal?: AbortSignal): Promise<Refreshed> {
    const refreshed = await this.#flights.join(
      origin,
      // The store phase counts towards `concurrency`. Store calls have a deadline, which must not pass in our own
      // queue.
      (flight, isCurrent) => this.#places.run(() => this.#track(this.#search(origin, flight, isCurrent))),
      signal,
    );
    const { entry, source } = refreshed;
    if (source === 'store' && this.#isDueAhead(entry)) this.refreshInBackground(origin);
    return refreshed;
  }

  #isDueAhead(entry: CacheEntry): boolean {
    const due = attemptDue(entry.record, entry.profile, this.#options.clock.now());
    return due === 'ahead' && !this.servesInPause(entry);
  }

  /** Starts a refresh, unless one is in flight already. Publish the events of memory after it. */
  refreshInBackground(origin: string): void {
    if (this.isRefreshing(origin)) return;
    this.refresh(origin).catch(ignore);
    this.#memory.events.add(origin, 'refresh');
  }

  /** Whether a refresh of `origin` is in flight, which the next caller joins. */
  isRefreshing(origin: string): boolean {
    return this.#flights.has(origin);
  }

  /** Whether an entry serves at any age because, as far as this process knows, its origin pauses. */
  servesInPause({ record }: CacheEntry): boolean {
    return canServe(record) && this.pausedUntil(record.origin) !== undefined;
  }

  /** The end of the pause of an origin, in epoch ms: until then its robots.txt is not requested again. */
  pausedUntil(origin: string): number | undefined {
    return this.#options.pauses.until(origin);
  }

  /** The time at which to read an entry: see `timeInPause`. */
  readTime(entry: CacheEntry, now: number): number {
    return this.servesInPause(entry) ? timeInPause(entry.record, entry.profile, now) : now;
  }

  /** A refresh in flight still serves its callers, but its result is not kept. */
  async forget(origin: string): Promise<void> {
    this.#flights.detach(origin);
    this.#memory.forget(origin);
    const stored = await this.#options.stored?.load();
    await stored?.forget(origin);
  }

  /** Forgets all origins in memory. Refreshes in flight still serve their callers, but their results are not kept. */
  clear(): void {
    this.#flights.detachAll();
    this.#memory.clear();
  }

  stats(): { readonly attempts: number; readonly inFlight: number } {
    return { attempts: this.#attempts, inFlight: this.#flights.size };
  }

  /** Rejects all waiting questions with `reason`, clears the memory, and finishes writes. */
  async close(reason: unknown): Promise<void> {
    this.#flights.close(reason);
    this.#places.clear();
    this.#memory.close();
    // A store that could not be loaded has nothing to write.
    const stored = await this.#options.stored?.pending?.catch(() => undefined);
    await stored?.close(Promise.allSettled(this.#running));
  }

  /** Looks for a usable record in the store, if there is one; else makes an attempt. */
  async #search(asked: string, signal: LightAbortSignal, isCurrent: () => boolean): Promise<Refreshed> {
    // All callers may have left while the flight was queued. It is then never sent.
    signal.throwIfAborted();
    const origin = detachedString(asked);
    const stored = this.#options.stored && (await this.#options.stored.load());
    const { nextRecord } = this.#lifecycle.value ?? (await this.#lifecycle.load());
    const context = { origin, signal, isCurrent, stored, nextRecord };
    if (stored === undefined) {
      this.#memory.warnIfEvicted(origin, this.#options.clock.now());
      return this.#fetchAndLearn(context, this.#memory.peek(origin));
    }
    const isPaused = this.pausedUntil(origin) !== undefined;
    const suffices = (record: OriginRecord): boolean =>
      (isPaused && canServe(record)) || this.#improves(record);
    signal.throwIfAborted();
    const found = await stored.find(origin, suffices, signal);
    const known = found.record === undefined ? undefined : this.#takeOver(found.record, context);
    if (found.kind === 'found' && known !== undefined) return { entry: known, source: 'store' };
    const lease = found.kind === 'needs-fetch' ? found.lease : undefined;
    return this.#fetchAndLearn(context, known ?? this.#memory.peek(origin), lease);
  }

  /** Whether a record from the store makes an attempt unnecessary or less urgent. */
  #improves(record: OriginRecord): boolean {
    const now = this.#options.clock.now();
    const known = this.#memory.peek(record.origin)?.record;
    const profile = this.#options.profileOf(record.origin);
    const urgency = (one: OriginRecord | undefined): number =>
      DUE_LEAST_FIRST.indexOf(attemptDue(one, profile, now));
    const isNewer = known === undefined || recordedAt(record) > recordedAt(known);
    return isNewer && urgency(record) < urgency(known);
  }

  /** Makes an entry of a record from the store. */
  #takeOver(record: OriginRecord, { isCurrent }: RefreshContext): CacheEntry {
    const now = this.#options.clock.now();
    let entry: CacheEntry;
    if (isCurrent()) {
      entry = this.#memory.merge(record, now);
    } else {
      const { profile } = (entry = new CacheEntry(record, this.#options.profileOf(record.origin)));
      this.#memory.events.addRecordChange({ type: 'restored', record, profile });
    }
    this.#memory.events.publish();
    return entry;
  }

  /** Makes an attempt. A lease is released when the new record can be read by others. */
  async #fetchAndLearn(
    context: RefreshContext,
    known: CacheEntry | undefined,
    lease?: HeldLease,
  ): Promise<Refreshed> {
    const { origin, signal, stored } = context;
    let written: Promise<void> | undefined;
    try {
      signal.throwIfAborted();
      this.#attempts++;
      const outcome = await this.#options.attempt(origin, known?.record, signal);
      signal.throwIfAborted();
      this.#learnPause(outcome);
      if (context.isCurrent()) this.#shareWithServer(context, outcome);
      const entry = this.#learn(context, known, outcome);
      // That a proxy of this process is down says nothing of the site to others.
      if (context.isCurrent() && !isFailureOfProxy(outcome)) written = stored?.remember(entry.record);
      this.#memory.events.publish();
      return { entry, source: 'network' };
    } finally {
      if (lease !== undefined) void Promise.resolve(written).then(() => lease.release());
    }
  }

  /** A pause requested in the response to robots.txt also applies to pages. */
  #learnPause({ finalUrl, ...outcome }: Outcome): void {
    const retryAfter = outcome.headers?.retryAfter;
    if (retryAfter === undefined || outcome.status === undefined) return;
    this.#options.pauses.ask(new URL(finalUrl).origin, retryAfter, outcome.status);
  }

  /** Makes the new entry of an origin from the outcome of an attempt. */
  #learn(context: RefreshContext, known: CacheEntry | undefined, outcome: Outcome): CacheEntry {
    const { origin, isCurrent } = context;
    const now = this.#options.clock.now();
    const random = this.#options.random();
    const profile = this.#options.profileOf(origin);
    // Meanwhile memory may have received a site signal, or evicted the entry.
    const held = isCurrent() ? this.#memory.peek(origin) : undefined;
    let previous = (held ?? known)?.record;
    if (held !== undefined && known !== undefined) {
      // A 304 confirms the copy whose validators were sent, and memory may have received another one.
      const isOther = outcome.kind === 'not-modified' && held.record.copy !== known.record.copy;
      previous = isOther
        ? mergeRecords(known.record, { origin, ...omitUndefined({ site: held.record.site }) })
        : mergeRecords(held.record, known.record);
    }
    const attempt = { origin, previous, outcome, profile, now, random };
    return this.#entryAfter(attempt, context, held ?? known, isCurrent());
  }

  /**
   * Shares a success that was reached by redirects with the origin that served it. Only if the final URL is that
   * origin's own `/robots.txt`, and an attempt of its own would have brought the same. Other outcomes are not shared: a
   * refusal may be meant for this path only.
   */
  #shareWithServer(context: RefreshContext, outcome: Outcome): void {
    if (outcome.kind !== 'success' || outcome.hops === 0) return;
    const { origin } = new URL(outcome.finalUrl);
    if (origin === context.origin || outcome.finalUrl !== origin + ROBOTS_PATH) return;
    if (!this.#options.isReadAlike(origin, context.origin)) return;
    const now = this.#options.clock.now();
    const random = this.#options.random();
    const profile = this.#options.profileOf(origin);
    const known = this.#memory.peek(origin);
    // Any good response ends a failure, also one from elsewhere.
    const fresh = known !== undefined && attemptDue(known.record, profile, now) !== 'now';
    if (fresh && known.record.failure === undefined) return;
    const served = withoutRedirects(outcome);
    const attempt = { origin, previous: known?.record, outcome: served, profile, now, random };
    const { record } = this.#entryAfter(attempt, context, known, true);
    void context.stored?.remember(record);
  }

  #entryAfter(
    attempt: EndedAttempt,
    { nextRecord }: RefreshContext,
    before: CacheEntry | undefined,
    isKept: boolean,
  ): CacheEntry {
    const { origin, outcome, profile, now: at } = attempt;
    const record = nextRecord(attempt);
    const entry = isKept ? this.#memory.keep(record, before, at) : new CacheEntry(record, profile, before);
    this.#memory.events.addRecordChange({ type: 'attempt', origin, outcome, record, profile, at });
    return entry;
  }

  #track<Value>(work: Promise<Value>): Promise<Value> {
    this.#running.add(work);
    const ended = (): void => void this.#running.delete(work);
    work.then(ended, ended);
    return work;
  }
}

function isFailureOfProxy(outcome: Outcome): boolean {
  return outcome.kind === 'unreachable' && outcome.error === 'ERR_ROBOTS_PROXY';
}
