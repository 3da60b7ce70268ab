/** What the process is warned of when a crawl waits: each once, with what mends it. */
import { setBackgroundTimeout, urlWithoutUserinfo, warnOnce } from '../../core/base/index.ts';
import type { Decision, Pause } from '../../core/decision/index.ts';
import { describeDelay } from '../../core/pacing/index.ts';
import type { RetryWait } from './not-now.ts';

/** A shorter wait is not taken for a hang. */
const LONG_WAIT_MS = 10_000;

/** Calls `task` when a wait that begins now has lasted for long. */
export function afterLongWait(task: () => void): ReturnType<typeof setTimeout> {
  return setBackgroundTimeout(task, LONG_WAIT_MS);
}

/** Warns of a long wait for a site that is dead, busy or broken. Not of one that keeps a pace. */
export function warnOfSiteWait(
  { origin, until, cause, keepsPace }: Omit<RetryWait, 'url' | 'request'>,
  waitMs: number,
): void {
  if (keepsPace || waitMs < LONG_WAIT_MS) return;
  warnOnce(
    `Waits for ${origin} until ${new Date(until).toISOString()}: ${cause}. \`onWait\` of \`retryLater\` is told each wait, ` +
      'and `crawlReport(robots, { every: 60_000 })` writes what waits',
    'CANFETCH_WAITING',
  );
}

/** Warns of a pause for which a request has been waiting for long in the queue. */
export function warnOfPause(origin: string, pause: Pause): void {
  const { from, until } = pause;
  const cause = describeDelay({ ...pause, causeMs: until - from });
  warnOfSiteWait({ origin, until: Math.ceil(until), cause, keepsPace: false }, LONG_WAIT_MS);
}

/** Warns of a request that holds up the others of its site. */
export function warnOfNoResponse(url: string): void {
  warnOnce(
    `No response to the request for ${urlWithoutUserinfo(url)} has come for ${LONG_WAIT_MS / 1_000} s, and other requests to its ` +
      'site wait for its end; give the guard `timeoutMs: 30_000` (guardFetch, robotsInterceptor), or the library its own ' +
      '`timeout` (got, axios)',
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
