import type { ServerResponse } from 'node:http';
import { answer, type Answer, startSite } from '../support/site.ts';

/** A request for a page, as the site has it in its log. Times are milliseconds of the site's monotonic clock. */
export interface LoggedRequest {
  readonly path: string;
  /** Who asked: the first part of the path. */
  readonly member: string;
  /** It came at this time at the latest: then its process read it. */
  readonly at: number;
  /** It came after this time: then its process looked in vain. */
  readonly after: number;
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

/** A site with pages, whose log tells whether a fleet kept to its gaps and pauses. */
export interface JudgedSite extends AsyncDisposable {
  readonly origin: string;
  readonly log: readonly LoggedRequest[];
  readonly pauses: readonly AskedPause[];
  now(): number;
  /** Answers the next page request with this status and `Retry-After`. */
  pauseNext(seconds: number, status?: 429 | 503): void;
  /** The gaps between requests that came between these times, but for those after the first request of a process. */
  judgeGaps(gapMs: number, from: number, until: number): Judgement;
  /** Requests, of this member if one is named, that came between these times for certain. */
  between(from: number, until: number, member?: string): readonly LoggedRequest[];
}

/** How often the site looks for requests, so that it knows when one came although its process is held up. */
const LOOK_MS = 1;

export async function startJudgedSite(robots: Answer = { body: '' }): Promise<JudgedSite> {
  const log: LoggedRequest[] = [];
  const pauses: AskedPause[] = [];
  const asked: { readonly seconds: number; readonly status: number }[] = [];
  const now = (): number => performance.now();
  // It has read what came before the earlier of these times: a connection takes one look, its request another.
  let looks: readonly [earlier: number, later: number] = [now(), now()];
  const looking = setInterval(() => setImmediate(() => (looks = [looks[1], now()])), LOOK_MS);
  const page = (url: string, response: ServerResponse): void => {
    const member = url.split('/')[1] ?? '';
    const at = now();
    log.push({ path: url, member, at, after: looks[0] });
    const pause = asked.shift();
    if (pause === undefined) return answer(response, { body: 'a page' });
    const { seconds, status } = pause;
    pauses.push({ member, from: at, until: at + seconds * 1_000 });
    answer(response, { status, headers: { 'retry-after': String(seconds) } });
  };
  const site = await startSite(({ url = '' }, response) =>
    url === '/robots.txt' ? answer(response, robots) : page(url, response),
  );
  const between = (from: number, until: number, member?: string): LoggedRequest[] =>
    log.filter(
      (each) => each.after > from && each.at < until && (member === undefined || each.member === member),
    );
  return {
    origin: site.origin,
    log,
    pauses,
    now,
    pauseNext: (seconds, status = 429) => void asked.push({ seconds, status }),
    between,
    judgeGaps(gapMs, from, until) {
      const judged = log.filter(({ at }) => at > from && at < until);
      const tooClose: string[] = [];
      let leastGapMs = Infinity;
      for (const [index, next] of judged.entries()) {
        const before = judged[index - 1];
        if (before === undefined) continue;
        leastGapMs = Math.min(leastGapMs, next.at - before.at);
        const mostMs = next.at - before.after;
        // A process may send its first request later than it expects: it loads code, and connects.
        const isCold = before.path.endsWith('/0');
        if (!isCold && mostMs < leastAllowedMs(gapMs))
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

/** Timers are late by milliseconds: a tenth of the gap is tolerated, 50 ms at most. */
export function leastAllowedMs(gapMs: number): number {
  return gapMs - Math.min(gapMs / 10, 50);
}
