/** How long sites are waited for, and what the process is warned of: each once, with what mends it. */
import { setBackgroundTimeout, urlWithoutUserinfo, warnOnce } from '../../core/base/index.ts';
import type { ClientEngine } from '../../core/client/client-engine.ts';
import type { Decision } from '../../core/decision/index.ts';
import { describeDelay } from '../../core/pacing/index.ts';

/** Beyond it, the site that was waited for first is forgotten. */
const MAX_SITES = 10_000;
/** After this time without a wait a site is waited for anew. */
const QUIET_MS = 30 * 60 * 1_000;

/** Since when sites have been waited for without giving a page: a run with many pages of a broken site ends, too. */
export class SitePatience {
  /** The origins whose pauses are watched. */
  readonly watched: Set<string> = new Set();
  readonly #waits = new Map<string, { readonly since: number; until: number }>();

  /** Notes a wait for an origin. Returns when the first of its waits began. */
  waits(origin: string, now: number, until: number): number {
    const known = this.#known(origin, now);
    if (known !== undefined) {
      known.until = Math.max(known.until, until);
      // The clock may have been set back.
      return Math.min(known.since, now);
    }
    if (this.#waits.size >= MAX_SITES) {
      const [oldest = ''] = this.#waits.keys();
      this.#waits.delete(oldest);
    }
    this.#waits.set(origin, { since: now, until });
    return now;
  }

  /** Since when an origin has been waited for; `undefined` if it gave a page since. */
  since(origin: string, now: number): number | undefined {
    return this.#known(origin, now)?.since;
  }

  #known(origin: string, now: number): { readonly since: number; until: number } | undefined {
    const known = this.#waits.get(origin);
    return known !== undefined && now - known.until < QUIET_MS ? known : undefined;
  }

  /** Whether a wait for an origin lasts that long. */
  waitsUntil(origin: string, until: number): boolean {
    return (this.#waits.get(origin)?.until ?? -Infinity) >= until;
  }

  /** A site has given a page. */
  gavePage(origin: string): void {
    if (this.#waits.size > 0) this.#waits.delete(origin);
  }
}

const patience = new WeakMap<object, SitePatience>();

/** What all guards of a client know. */
export function patienceOf(engine: object): SitePatience {
  const known = patience.get(engine) ?? new SitePatience();
  patience.set(engine, known);
  return known;
}

/** A shorter wait is not taken for a hang. */
const LONG_WAIT_MS = 10_000;

/** Calls `task` when a wait that begins now has lasted for long. */
export function afterLongWait(task: () => void): ReturnType<typeof setTimeout> {
  return setBackgroundTimeout(task, LONG_WAIT_MS);
}

/** A wait for a site. */
export interface LongWait {
  readonly origin: string;
  /** Epoch ms. */
  readonly until: number;
  /** What the site does, in words. */
  readonly cause: string;
  /** Whether the site is well, and asks for this pace. */
  readonly keepsPace: boolean;
}

/** Warns of a long wait for a site that is dead, busy or broken. Not of one that keeps a pace. */
export function warnOfSiteWait({ origin, until, cause, keepsPace }: LongWait, waitMs: number): void {
  if (keepsPace || waitMs < LONG_WAIT_MS) return;
  warnOnce(
    `Waits for ${origin} until ${new Date(until).toISOString()}: ${cause}. \`onWait\` of \`retryLater\` is told each wait, ` +
      'and `crawlReport(robots, { every: 60_000 })` writes what waits',
    'CANFETCH_WAITING',
  );
}

/** A site pauses. Warns when requests wait for it in the queue, unless who waits is told otherwise. */
export function watchPause(engine: ClientEngine, patience: SitePatience, origin: string): void {
  if (patience.watched.has(origin)) return;
  patience.watched.add(origin);
  const look = (): void => {
    const { value: pacer } = engine.pacing.pacer;
    const pause = engine.ending.aborted ? undefined : pacer?.pauseOf(origin);
    if (pause === undefined) return void patience.watched.delete(origin);
    const { from, until, delayFrom } = pause;
    const waits = (pacer?.queueOf(origin)?.waiting ?? 0) > 0;
    if (waits && !patience.waitsUntil(origin, until)) {
      const cause = describeDelay({ delayFrom, causeMs: until - from });
      warnOfSiteWait({ origin, until, cause, keepsPace: false }, LONG_WAIT_MS);
    }
    afterLongWait(look);
  };
  afterLongWait(look);
}

/** Warns of a request that holds up the others of its site. */
export function warnOfNoResponse(url: string): void {
  warnOnce(
    `For ${LONG_WAIT_MS / 1_000} s the library has shown no response to the request for ${urlWithoutUserinfo(url)}, and other requests ` +
      'to its site wait for its end; give the guard `timeoutMs: 30_000` (guardFetch, robotsInterceptor, axios with ' +
      "`adapter: 'fetch'`), or got its own `timeout`",
    'CANFETCH_NO_RESPONSE',
  );
}

/** Warns of a site that asks for a delay, and a guard that was told nothing of `pacing`. */
export function warnOfUnusedPace({ origin, crawlDelayMs = 0 }: Decision): void {
  if (crawlDelayMs === 0) return;
  warnOnce(
    `${origin} asks for a Crawl-delay of ${crawlDelayMs / 1_000} s, which the guard does not keep; give it \`pacing: true\`, or ` +
      '`pacing: false` where something else keeps it',
    'CANFETCH_PACE_UNUSED',
  );
}

/** Warns once that the caller's time limit ended the wait of a request for `url`. */
export function warnOfTimeoutInQueue(url: string): void {
  warnOnce(
    `Expected a time limit of ${urlWithoutUserinfo(url)} that counts from the start of the request, but its ` +
      '`AbortSignal.timeout()`, or the `timeout` of axios over fetch, ended while it waited for its turn or for robots.txt; ' +
      "give the guard `timeoutMs` instead (guardFetch, robotsInterceptor, axios with `adapter: 'fetch'`), or got its own `timeout`",
    'CANFETCH_TIMEOUT_IN_QUEUE',
  );
}
