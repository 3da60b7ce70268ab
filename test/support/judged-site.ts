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
   * How late a request may come, as from a process that waits for a processor: the gap before it is longer by as much, and
   * the one after it shorter. @default 0
   */
  readonly lateMs?: number;
}

/** A site with pages, whose log tells whether a fleet kept to its gaps. */
export interface JudgedSite extends AsyncDisposable {
  readonly origin: string;
  readonly log: readonly LoggedRequest[];
  now(): number;
  /** The gaps between requests that were too short, but for those after the first request of a process. */
  tooClose(gapMs: number, of?: JudgedRequests): readonly string[];
  /** Requests, of this member if one is named, that came between these times for certain. */
  between(from: number, until: number, member?: string): readonly LoggedRequest[];
}

/** Of a gap. Less than what is tolerated: two requests at once are too close, however late the first is. */
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
    tooClose(gapMs, { member, lateMs = 0 } = {}) {
      const judged = log.filter((each) => isOf(each, member));
      return judged.flatMap((next, index) => {
        const before = judged[index - 1];
        // A process may send its first request later than it expects: it loads code, and connects.
        if (before === undefined || before.path.endsWith('/0')) return [];
        const mostMs = next.at - before.after;
        const isSecond = index === 1;
        const dueAt = isSecond ? -Infinity : judged[index - 2]!.at + gapMs;
        const mostLateMs = isSecond ? gapMs * LATE_BY_COLD : lateMs;
        const beforeWasLateMs = Math.min(Math.max(before.at - dueAt, 0), mostLateMs);
        if (mostMs + beforeWasLateMs >= leastAllowedMs(gapMs)) return [];
        return [`${before.path} at ${before.at.toFixed(1)}, ${next.path} ${mostMs.toFixed(1)} ms later`];
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
