import { omitUndefined } from '../../core/base/index.ts';
import type { DelayFrom, OwnDelays } from '../../core/decision/index.ts';
import { asksForPause, retryAfterMs } from '../../core/lifecycle/index.ts';
import { requestRate } from '../../core/rules/index.ts';
import type { DecisionEntry, PauseEntry, RequestEntry } from '../../core/client/evidence/entry.ts';
import { type Gap, gapOf } from '../../core/pacing/schedule.ts';
import type { ReplayedAgain } from './recorded-run.ts';
import type { ReplayedLine } from './replay.ts';
import { wasSent } from './request-outcomes.ts';

/** A request that was sent too early. Times in epoch ms. */
export interface EarlyStart {
  readonly file: string;
  /** The line of the request. */
  readonly line: number;
  readonly url: string;
  readonly startedAt: number;
  /** When it could have been sent. */
  readonly earliestAt: number;
  /** What it should have waited for. */
  readonly reason: Exclude<DelayFrom, 'concurrency'>;
}

/** Requests may be this share of a gap or of a pause early, and this long at most: what pacing tolerates, too. */
const TOLERATED_SHARE = 0.1;
const MAX_TOLERATED_MS = 50;
/** A site may ask for a day at most. */
const MAX_PAUSE_MS = 24 * 60 * 60 * 1000;
/** Starts and pauses of an origin that are kept: responses come in another order than requests were sent. */
const MAX_KEPT = 64;
/** Decisions of an origin that are kept until their requests are sent. */
const MAX_DECIDED = 10_000;
const NO_DELAYS = { defaultDelayMs: 0, minDelayMs: 0 };

type Pause = Pick<PauseEntry, 'from' | 'until' | 'delayFrom'>;

/** The delays that the site stated for an agent when a request was decided. */
interface Stated {
  readonly agent: string;
  readonly crawlDelayMs?: number;
  readonly requestRateMs?: number;
}

type Response = Pick<RequestEntry, 'retryAfter' | 'startedAt' | 'at'>;

interface Start {
  readonly request: RequestEntry;
  readonly file: string;
  readonly line: number;
  /** `undefined`: not known. */
  readonly stated: Stated | undefined;
  isEarly: boolean;
}

/** What shared one queue, gap and pause. */
class ScopeConduct {
  readonly pauses: Pause[] = [];
  /** By the time of the start. */
  readonly starts: Start[] = [];
}

/** What counts for the requests of one origin. */
class OriginConduct {
  /** By run and URL. */
  readonly decided = new Map<string, Stated>();
  /** By run: the latest; `undefined` for a run with several agents. */
  readonly latest = new Map<string, Stated | undefined>();
  /** Pauses that its robots.txt asked for. */
  readonly pauses: Pause[] = [];
  /** The latest that an entry named: requests without a pace name none. */
  scope = new ScopeConduct();
}

/**
 * Checks the requests of a log against the pauses and the `Retry-After` of their scopes, the delays that their robots.txt
 * states, and the crawler's own delays, which hold between paced requests of one client.
 */
export class Conduct {
  readonly #origins = new Map<string, OriginConduct>();
  readonly #scopes = new Map<string, ScopeConduct>();
  /** Requests that were checked. */
  requests = 0;
  /** Those of them whose site's own delay is not in the log. */
  unknown = 0;

  /** Takes the next line. Returns the starts that turn out to be too early. */
  add(file: string, { entry, line, again, isSelected }: ReplayedLine): readonly EarlyStart[] {
    switch (entry.type) {
      case 'decision':
        if (again !== undefined) this.#decided(entry, statedIn(again, entry.at));
        return [];
      case 'robots':
        if ('outcome' in entry && asksForPause(entry.status)) {
          const { retryAfter } = entry.headers ?? {};
          keepPause(
            this.#at(entry.origin).pauses,
            askedIn({ startedAt: entry.at, at: entry.at, ...omitUndefined({ retryAfter }) }),
          );
        }
        return [];
      case 'pause':
        keepPause(this.#at(entry.origin, entry.scope).scope.pauses, entry);
        return [];
      case 'request': {
        if (!wasSent(entry)) return [];
        const early = isSelected ? this.#start(entry, file, line) : [];
        keepPause(this.#at(entry.origin, entry.pacing?.scope).scope.pauses, askedIn(entry));
        return early;
      }
      default:
        return [];
    }
  }

  #start(request: RequestEntry, file: string, line: number): readonly EarlyStart[] {
    this.requests++;
    const { decided, latest, pauses, scope } = this.#at(request.origin, request.pacing?.scope);
    const { starts } = scope;
    const stated = decided.get(keyOf(request)) ?? latest.get(request.run);
    if (stated === undefined) this.unknown++;
    const start: Start = { request, file, line, stated, isEarly: false };
    let at = starts.length;
    while ((starts[at - 1]?.request.startedAt ?? -Infinity) > request.startedAt) at--;
    starts.splice(at, 0, start);
    const next = starts[at + 1];
    const found = [
      earlyIn([...pauses, ...scope.pauses], start) ?? earlyAfter(starts[at - 1], start),
      next && earlyAfter(start, next),
    ];
    if (starts.length > MAX_KEPT) starts.shift();
    return found.filter((each) => each !== undefined);
  }

  #decided(entry: DecisionEntry, stated: Stated): void {
    const { decided, latest } = this.#at(entry.origin);
    const key = keyOf(entry);
    // The latest is the last.
    decided.delete(key);
    decided.set(key, stated);
    const [oldest] = decided.keys();
    if (decided.size > MAX_DECIDED && oldest !== undefined) decided.delete(oldest);
    const before = latest.get(entry.run);
    const isOneAgent = !latest.has(entry.run) || before?.agent === stated.agent;
    latest.set(entry.run, isOneAgent ? stated : undefined);
  }

  #at(origin: string, scope?: string): OriginConduct {
    let known = this.#origins.get(origin);
    if (known === undefined) this.#origins.set(origin, (known = new OriginConduct()));
    if (scope === undefined) return known;
    const named = this.#scopes.get(scope);
    if (named === undefined) this.#scopes.set(scope, (known.scope = new ScopeConduct()));
    else known.scope = named;
    return known;
  }
}

/**
 * The response came at some time after the start. A wait from the start on is too short by the time of the response, which
 * the entry of the pause has.
 */
function askedIn({ retryAfter, startedAt, at }: Response): Pause | undefined {
  const askedMs = retryAfterMs(retryAfter, startedAt, { minMs: 0, maxMs: MAX_PAUSE_MS }) ?? 0;
  const until = startedAt + askedMs;
  return until > at ? { from: at, until, delayFrom: 'retry-after' } : undefined;
}

function keepPause(pauses: Pause[], pause: Pause | undefined): void {
  if (pause === undefined) return;
  const isKnown = pauses.some(({ from, until }) => from <= pause.from && until >= pause.until);
  if (!isKnown) pauses.push(pause);
  if (pauses.length > MAX_KEPT) pauses.shift();
}

function keyOf({ run, url }: { readonly run: string; readonly url: string }): string {
  return `${run} ${url}`;
}

function statedIn({ decision, file }: ReplayedAgain, atMs: number): Stated {
  const { agent, crawlDelayMs } = decision;
  const requestRateMs = file && requestRate(file, agent, { atMs });
  return { agent, ...omitUndefined({ crawlDelayMs, requestRateMs }) };
}

/** Whether a request was sent within a pause. Those sent before it belong to its incident. */
function earlyIn(pauses: readonly Pause[], start: Start): EarlyStart | undefined {
  const { startedAt } = start.request;
  let longest: Pause | undefined;
  for (const pause of pauses) {
    const isBroken =
      startedAt > pause.from && startedAt < pause.until - toleratedMs(pause.until - pause.from);
    if (isBroken && pause.until > (longest?.until ?? 0)) longest = pause;
  }
  return longest && earlyStart(start, longest.until, longest.delayFrom);
}

function toleratedMs(waitMs: number): number {
  return Math.min(waitMs * TOLERATED_SHARE, MAX_TOLERATED_MS);
}

/** Whether a request was sent too soon after the one before it. */
function earlyAfter(before: Start | undefined, start: Start): EarlyStart | undefined {
  if (before === undefined || start.isEarly) return undefined;
  const { delayMs, delayFrom } = gapBetween(before, start);
  const earliestAt = before.request.startedAt + delayMs;
  return start.request.startedAt < earliestAt - toleratedMs(delayMs)
    ? earlyStart(start, earliestAt, delayFrom)
    : undefined;
}

/** The gap in force. Paced requests of one client are in one queue, where the longer gap of two neighbours holds. */
function gapBetween(before: Start, start: Start): Gap {
  const [one, other] = [before.request, start.request];
  if (one.run !== other.run || one.pacing === undefined || other.pacing === undefined) {
    return gapUnder(NO_DELAYS, start);
  }
  const [gap, gapBefore] = [gapUnder(other.pacing, start), gapUnder(one.pacing, before)];
  return gapBefore.delayMs > gap.delayMs ? gapBefore : gap;
}

function gapUnder(pacing: Omit<OwnDelays, 'scope'>, { stated }: Start): Gap {
  return gapOf(stated ?? {}, stated?.requestRateMs, pacing);
}

function earlyStart(start: Start, earliestAt: number, reason: EarlyStart['reason']): EarlyStart {
  start.isEarly = true;
  const { file, line, request } = start;
  return { file, line, url: request.url, startedAt: request.startedAt, earliestAt, reason };
}
