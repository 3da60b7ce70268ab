/** What the process is warned of when a crawl waits: each once, with what mends it. */
import { setBackgroundTimeout, urlWithoutUserinfo, warnOnce } from '../../core/base/index.ts';
import type { ClientEngine } from '../../core/client/client-engine.ts';
import type { Decision } from '../../core/decision/index.ts';
import { describeDelay } from '../../core/pacing/index.ts';
import type { RetryWait } from './not-now.ts';
import type { SitePatience } from './site-patience.ts';

/** A shorter wait is not taken for a hang. */
const LONG_WAIT_MS = 10_000;

/** Calls `task` when a wait that begins now has lasted for long. */
export function afterLongWait(task: () => void): ReturnType<typeof setTimeout> {
  return setBackgroundTimeout(task, LONG_WAIT_MS);
}

/** A wait that users should hear of. */
export type LongWait = Pick<RetryWait, 'origin' | 'until' | 'cause' | 'keepsPace'>;

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
