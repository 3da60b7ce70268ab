import type { IncomingMessage, ServerResponse } from 'node:http';
import { answer, type Answer, type Handler, startSite } from './site.ts';

/** A request for a page, as the site has it in its log. Times are milliseconds of the site's monotonic clock. */
export interface LoggedRequest {
  readonly path: string;
  /** Who asked: the first part of the path. */
  readonly member: string;
  /** It came at this time at the latest: then its process read it. */
  readonly at: number;
  /** It came after this time: then its process looked in vain. */
  readonly after: number;
  /** When its response ended, or was given up; infinite until then. */
  readonly over: number;
}

/** A pause that the site asked for. */
export interface AskedPause {
  readonly member: string;
  readonly from: number;
  readonly until: number;
}

/** What the log of the site shows of a stretch of time. */
export interface Judgement {
  readonly requests: number;
  /** The shortest time between two requests, as they were read. */
  readonly leastGapMs: number;
  /** Gaps that were too short, whenever the two requests came. */
  readonly tooClose: readonly string[];
}

/** The requests whose gaps are judged. */
export interface JudgedRequests {
  /** Who asked. @default everybody */
  readonly member?: string;
  /**
   * How late a request may come, as from a process that waits for a processor: the gap before it is longer by as much, and
   * the one after it shorter. @default 0
   */
  readonly lateMs?: number;
  /**
   * When the first request was due, after a pause. Its process connects anew, so it may be late by most of a gap.
   * @default unknown: the first request of all, which may be as late
   */
  readonly resumedAt?: number;
}

/** A site with pages, whose log tells whether a fleet kept to its gaps and pauses. */
export interface JudgedSite extends AsyncDisposable {
  readonly origin: string;
  readonly log: readonly LoggedRequest[];
  readonly pauses: readonly AskedPause[];
  now(): number;
  /** Answers the next page request with this status and `Retry-After`. */
  pauseNext(seconds: number, status?: 429 | 503): void;
  /** The gaps between requests that came between these times, but for those after the first request of a process. */
  judgeGaps(gapMs: number, from: number, until: number, of?: JudgedRequests): Judgement;
  /** Requests, of this member if one is named, that came between these times for certain. */
  between(from: number, until: number, member?: string): readonly LoggedRequest[];
}

/** Of a gap. Less than what is tolerated: two requests at once are too close, however late the first is. */
const LATE_BY_COLD = 0.85;

/** How often the site looks for requests, so that it knows when one came although its process is held up. */
const LOOK_MS = 1;

/** @param respond What it does with a request for a page that `pauseNext` does not concern. */
export async function startJudgedSite(
  robots: Answer = { body: '' },
  respond: Handler = (_, response) => answer(response, { body: 'a page' }),
): Promise<JudgedSite> {
  const log: LoggedRequest[] = [];
  const pauses: AskedPause[] = [];
  const asked: { readonly seconds: number; readonly status: number }[] = [];
  const now = (): number => performance.now();
  // It has read what came before the earlier of these times: a connection takes one look, its request another.
  let looks: readonly [earlier: number, later: number] = [now(), now()];
  const looking = setInterval(() => setImmediate(() => (looks = [looks[1], now()])), LOOK_MS);
  const page = (url: string, request: IncomingMessage, response: ServerResponse): void => {
    const member = url.split('/')[1] ?? '';
    const at = now();
    const logged = { path: url, member, at, after: looks[0], over: Infinity };
    log.push(logged);
    // The client may see the end of a response before the site's `finish` event.
    for (const event of ['prefinish', 'close'])
      response.on(event, () => (logged.over = Math.min(logged.over, now())));
    const pause = asked.shift();
    if (pause === undefined) return respond(request, response);
    const { seconds, status } = pause;
    pauses.push({ member, from: at, until: at + seconds * 1_000 });
    answer(response, { status, headers: { 'retry-after': String(seconds) } });
  };
  const site = await startSite((request, response) => {
    const { url = '' } = request;
    if (url === '/robots.txt') answer(response, robots);
    else page(url, request, response);
  });
  const between = (from: number, until: number, member?: string): LoggedRequest[] =>
    log.filter((each) => each.after > from && each.at < until && isOf(each, member));
  return {
    origin: site.origin,
    log,
    pauses,
    now,
    pauseNext: (seconds, status = 429) => void asked.push({ seconds, status }),
    between,
    judgeGaps(gapMs, from, until, { member, lateMs = 0, resumedAt = -Infinity } = {}) {
      const judged = log.filter((each) => each.at > from && each.at < until && isOf(each, member));
      const tooClose: string[] = [];
      let leastGapMs = Infinity;
      for (const [index, next] of judged.entries()) {
        const before = judged[index - 1];
        if (before === undefined) continue;
        leastGapMs = Math.min(leastGapMs, next.at - before.at);
        const mostMs = next.at - before.after;
        // A process may send its first request later than it expects: it loads code, and connects.
        const isCold = before.path.endsWith('/0');
        const dueAt = index === 1 ? resumedAt : judged[index - 2]!.at + gapMs;
        const mostLateMs = index === 1 ? gapMs * LATE_BY_COLD : lateMs;
        const beforeWasLateMs = Math.min(Math.max(before.at - dueAt, 0), mostLateMs);
        if (!isCold && mostMs + beforeWasLateMs < leastAllowedMs(gapMs))
          tooClose.push(
            `${before.path} at ${before.at.toFixed(1)}, ${next.path} ${mostMs.toFixed(1)} ms later`,
          );
      }
      return { requests: judged.length, leastGapMs, tooClose };
    },
    async [Symbol.asyncDispose]() {
      clearInterval(looking);
      await site.close();
    },
  };
}

function isOf(request: LoggedRequest, member: string | undefined): boolean {
  return member === undefined || request.member === member;
}

/** Timers are late by milliseconds: a tenth of the gap is tolerated, 50 ms at most. */
export function leastAllowedMs(gapMs: number): number {
  return gapMs - Math.min(gapMs / 10, 50);
}
