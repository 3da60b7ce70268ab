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

/** The requests whose gaps are judged. */
export interface JudgedRequests {
  /** Who asked. @default everybody */
  readonly member?: string;
  /**
   * How late a request may come, as a share of the gap: a process may lose its processor right before it sends. The gap
   * before is longer by as much, and the one after shorter. @default 0.5
   */
  readonly late?: number;
}

/** A site with pages, whose log tells whether a fleet kept to its gaps. */
export interface JudgedSite extends AsyncDisposable {
  readonly origin: string;
  readonly log: readonly LoggedRequest[];
  now(): number;
  /**
   * Requests that came before their time, which is counted from request to request: one that was late moves it by some.
   *
   * @param gapMs The gap of two neighbours, by who asked.
   */
  tooClose(
    gapMs: number | ((before: string, next: string) => number),
    of?: JudgedRequests,
  ): readonly string[];
  /** Requests, of this member if one is named, that came between these times for certain. */
  between(from: number, until: number, member?: string): readonly LoggedRequest[];
}

/** Of the first request of all, which is cold. */
const LATE_BY_COLD = 0.85;

/** How often the site looks for requests, so that it knows when one came although its process is held up. */
const LOOK_MS = 1;

/** @param respond What it does with a request for a page. */
export async function startJudgedSite(
  robots: Answer = { body: '' },
  respond: Handler = (_, response) => answer(response, { body: 'a page' }),
): Promise<JudgedSite> {
  const log: LoggedRequest[] = [];
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
    return respond(request, response);
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
    now,
    between,
    tooClose(gapMs, { member, late = 0.5 } = {}) {
      const judged = log.filter((each) => isOf(each, member));
      let earliest = -Infinity;
      return judged.slice(1).flatMap((next, index) => {
        const before = judged[index]!;
        const gap = typeof gapMs === 'number' ? gapMs : gapMs(before.member, next.member);
        // A process may send its first request later than it expects: it loads code, and connects.
        const isCold = before.path.endsWith('/0');
        const lateMs = isCold ? Infinity : gap * (index === 0 ? LATE_BY_COLD : late);
        earliest = Math.max(earliest, before.after - lateMs) + leastAllowedMs(gap);
        if (next.at >= earliest) return [];
        return [`${next.path}, ${(next.at - before.after).toFixed(1)} ms after ${before.path}`];
      });
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
function leastAllowedMs(gapMs: number): number {
  return gapMs - Math.min(gapMs / 10, 50);
}
