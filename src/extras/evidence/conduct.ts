import { omitUndefined } from '../../core/base/index.ts';
import type { DelayFrom, OwnDelays } from '../../core/decision/index.ts';
import { asksForPause, retryAfterMs } from '../../core/lifecycle/index.ts';
import { requestRate } from '../../core/rules/index.ts';
import type { PauseEntry, RequestEntry } from '../../core/client/evidence/entry.ts';
import { type Gap, gapOf } from '../../core/pacing/gap.ts';
import type { ReplayedAgain } from './recorded-run.ts';
import type { ReplayedLine } from './replay.ts';
import { refusalOf, RequestOutcomes, type RequestRow, sentBy, wasSent } from './request-outcomes.ts';

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
/** Between processes, which may be a fleet: a member uses a slot that it is late for by up to half a gap. */
const TOLERATED_SHARE_BETWEEN_RUNS = 0.5;
/** A site may ask for a day at most. */
const MAX_PAUSE_MS = 24 * 60 * 60 * 1000;
/** Starts and pauses of an origin that are kept: responses come in another order than requests were sent. */
const MAX_KEPT = 64;
const NO_DELAYS = { defaultDelayMs: 0, minDelayMs: 0 };

type Pause = Pick<PauseEntry, 'from' | 'until' | 'delayFrom'>;

/** A request that was sent although it was refused: by a guard in a dry run, or without a check. */
export interface AgainstRefusal {
  readonly refusal: 'disallowed' | 'not-wanted';
  /** The decision, or the reason for no check. */
  readonly row: RequestRow;
  readonly sent: RequestEntry;
}

/** The delays that the site stated for an agent when a request was decided. */
interface Stated {
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
  /** Pauses that its robots.txt asked for. */
  readonly pauses: Pause[] = [];
  /** The latest that an entry named: requests without a pace name none. */
  scope = new ScopeConduct();
}

/**
 * Checks the requests of a log against their decisions, the pauses and the `Retry-After` of their scopes, the delays that
 * their robots.txt states, and the crawler's own delays, which hold between paced requests of one client. Times are those of
 * the starts. The site sees a cold start later.
 */
export class Conduct {
  readonly #outcomes = new RequestOutcomes();
  readonly #origins = new Map<string, OriginConduct>();
  readonly #scopes = new Map<string, ScopeConduct>();
  /** Requests that were checked. */
  requests = 0;
  /** Those of them whose site's own delay is not in the log. */
  unknown = 0;
  early = 0;
  /** Requests that were sent although they were refused. */
  refused = 0;

  /** Takes the next line. Returns what turns out to be wrong. */
  add(file: string, replayed: ReplayedLine): readonly (EarlyStart | AgainstRefusal)[] {
    const { entry, line, isSelected } = replayed;
    const { row } = this.#outcomes.add(file, replayed);
    const against = this.#againstRefusal(row, entry);
    switch (entry.type) {
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
        const again = row?.again;
        const stated = again && statedIn(again, row.entry.at);
        const early = isSelected ? this.#start({ request: entry, file, line, stated, isEarly: false }) : [];
        keepPause(this.#at(entry.origin, entry.pacing?.scope).scope.pauses, askedIn(entry));
        return [...early, ...against];
      }
      default:
        return against;
    }
  }

  /** Whether a pair of a decision and a request is complete now, and should not be. */
  #againstRefusal(row: RequestRow | undefined, { type }: ReplayedLine['entry']): readonly AgainstRefusal[] {
    if (row === undefined || type === 'cut') return [];
    const sent = sentBy(row);
    const refusal = refusalOf(row);
    if (sent === undefined || refusal === undefined || !row.isSelected) return [];
    this.refused++;
    return [{ refusal, row, sent }];
  }

  #start(start: Start): readonly EarlyStart[] {
    const { request, stated } = start;
    this.requests++;
    if (stated === undefined) this.unknown++;
    const { pauses, scope } = this.#at(request.origin, request.pacing?.scope);
    const { starts } = scope;
    let at = starts.length;
    while ((starts[at - 1]?.request.startedAt ?? -Infinity) > request.startedAt) at--;
    starts.splice(at, 0, start);
    const next = starts[at + 1];
    const found = [
      earlyIn([...pauses, ...scope.pauses], start) ?? earlyAfter(starts[at - 1], start),
      next && earlyAfter(start, next),
    ].filter((each) => each !== undefined);
    this.early += found.length;
    if (starts.length > MAX_KEPT) starts.shift();
    return found;
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

function statedIn({ decision, file }: ReplayedAgain, atMs: number): Stated {
  const { agent, crawlDelayMs } = decision;
  const requestRateMs = file && requestRate(file, agent, { atMs });
  return omitUndefined({ crawlDelayMs, requestRateMs });
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
  const isOneRun = before.request.run === start.request.run;
  const earlyMs = isOneRun ? toleratedMs(delayMs) : delayMs * TOLERATED_SHARE_BETWEEN_RUNS;
  return start.request.startedAt < earliestAt - earlyMs
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
