import { retryAfterMs } from '../../core/lifecycle/index.ts';
import { requestRate } from '../../core/rules/index.ts';
import type { PauseEntry, RequestEntry } from '../../core/client/evidence/entry.ts';
import type { ReplayedAgain } from './replay-state.ts';
import type { ReplayedLine } from './replay.ts';

/** A request that was sent too early. Times in epoch ms. */
export interface EarlyStart {
  /** The line of the request. */
  readonly line: number;
  readonly url: string;
  readonly startedAt: number;
  /** When it could have been sent. */
  readonly earliestAt: number;
  /** What it should have waited for. */
  readonly reason: 'pause' | 'retry-after' | 'crawl-delay' | 'request-rate';
}

/** Requests may be this share of a gap early, and this long at most: what pacing tolerates, too. */
const TOLERATED_SHARE = 0.1;
const MAX_TOLERATED_MS = 50;
/** A site may ask for a day at most. */
const MAX_PAUSE_MS = 24 * 60 * 60 * 1000;
/** Starts and pauses of an origin that are kept: responses come in another order than requests were sent. */
const MAX_KEPT = 64;

interface Pause {
  readonly from: number;
  readonly until: number;
  readonly reason: 'pause' | 'retry-after';
}

interface Start {
  readonly request: RequestEntry;
  readonly line: number;
  readonly gap: Gap | undefined;
  isEarly: boolean;
}

/** The delay that a site states. */
interface Gap {
  readonly delayMs: number;
  readonly delayFrom: 'crawl-delay' | 'request-rate';
}

/** What counts for the requests of one origin. */
class OriginConduct {
  readonly pauses: Pause[] = [];
  /** By the time of the start. */
  readonly starts: Start[] = [];
  gap: Gap | undefined;
}

/**
 * Checks the requests of a log against the pauses and the `Retry-After` of their origins, and against the delays that
 * their robots.txt states. Delays of the crawler's own are not checked.
 */
export class Conduct {
  readonly #origins = new Map<string, OriginConduct>();
  #requests = 0;

  /** Requests that were checked. */
  get requests(): number {
    return this.#requests;
  }

  /** Takes the next line. Returns the starts that turn out to be too early. */
  add({ entry, line, again, isSelected }: ReplayedLine): readonly EarlyStart[] {
    switch (entry.type) {
      case 'decision':
        if (again !== undefined) this.#at(entry.origin).gap = gapOf(again, entry.at);
        return [];
      case 'robots':
        if ('outcome' in entry) this.#pause(entry.origin, entry.status, entry.headers?.retryAfter, entry.at);
        return [];
      case 'pause':
        keep(this.#at(entry.origin).pauses, pauseOf(entry));
        return [];
      case 'request': {
        const early = isSelected ? this.#start(entry, line) : [];
        this.#pause(entry.origin, entry.status, entry.retryAfter, entry.at);
        return early;
      }
      default:
        return [];
    }
  }

  #start(request: RequestEntry, line: number): readonly EarlyStart[] {
    this.#requests++;
    const origin = this.#at(request.origin);
    const start: Start = { request, line, gap: origin.gap, isEarly: false };
    const { starts } = origin;
    let at = starts.length;
    while ((starts[at - 1]?.request.startedAt ?? -Infinity) > request.startedAt) at--;
    starts.splice(at, 0, start);
    if (starts.length > MAX_KEPT) starts.shift();
    const paused = origin.pauses.find(
      ({ from, until }) => request.startedAt > from && request.startedAt < until,
    );
    const found = [paused === undefined ? early(starts, start) : earlyIn(start, paused)];
    const next = starts[starts.indexOf(start) + 1];
    if (next !== undefined) found.push(early(starts, next));
    return found.filter((each) => each !== undefined);
  }

  /** RFC 6585 §4 and RFC 9110 §15.6.4: the statuses whose `Retry-After` is the time to wait. */
  #pause(origin: string, status: number | undefined, retryAfter: string | undefined, at: number): void {
    if (status !== 429 && status !== 503) return;
    const askedMs = retryAfterMs(retryAfter, at, { minMs: 0, maxMs: MAX_PAUSE_MS }) ?? 0;
    if (askedMs === 0) return;
    keep(this.#at(origin).pauses, { from: at, until: at + askedMs, reason: 'retry-after' });
  }

  #at(origin: string): OriginConduct {
    let known = this.#origins.get(origin);
    if (known === undefined) this.#origins.set(origin, (known = new OriginConduct()));
    return known;
  }
}

function keep<Item>(list: Item[], item: Item): void {
  list.push(item);
  if (list.length > MAX_KEPT) list.shift();
}

function pauseOf({ from, until }: PauseEntry): Pause {
  return { from, until, reason: 'pause' };
}

function gapOf({ decision, file }: ReplayedAgain, at: number): Gap | undefined {
  const { agent, crawlDelayMs } = decision;
  const requestRateMs = file && requestRate(file, agent, { atMs: at });
  if (requestRateMs !== undefined && requestRateMs > (crawlDelayMs ?? 0))
    return { delayMs: requestRateMs, delayFrom: 'request-rate' };
  return crawlDelayMs === undefined ? undefined : { delayMs: crawlDelayMs, delayFrom: 'crawl-delay' };
}

/** Whether a request was sent within a pause. */
function earlyIn(start: Start, { until, reason }: Pause): EarlyStart {
  return earlyStart(start, until, reason);
}

/** Whether a request was sent too soon after the one before it. */
function early(starts: readonly Start[], start: Start): EarlyStart | undefined {
  const before = starts[starts.indexOf(start) - 1];
  const { gap, isEarly, request } = start;
  if (before === undefined || gap === undefined || isEarly) return undefined;
  const earliestAt = before.request.startedAt + gap.delayMs;
  const toleratedMs = Math.min(gap.delayMs * TOLERATED_SHARE, MAX_TOLERATED_MS);
  return request.startedAt < earliestAt - toleratedMs
    ? earlyStart(start, earliestAt, gap.delayFrom)
    : undefined;
}

function earlyStart(start: Start, earliestAt: number, reason: EarlyStart['reason']): EarlyStart {
  start.isEarly = true;
  const { url, startedAt } = start.request;
  return { line: start.line, url, startedAt, earliestAt, reason };
}
