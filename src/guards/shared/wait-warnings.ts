import { warnOnce } from '../../core/base/index.ts';
import type { RetryWait } from './not-now.ts';

/** A shorter wait is not taken for a hang. */
const LONG_WAIT_MS = 10_000;

/** Warns once of a long wait for a site that is dead, busy or broken, which nobody is told of otherwise. */
export function warnOfSiteWait({ origin, until, cause, keepsPace }: RetryWait, waitMs: number): void {
  if (keepsPace || waitMs < LONG_WAIT_MS) return;
  warnOnce(
    `Waits for ${origin} until ${new Date(until).toISOString()}: ${cause}. \`onWait\` of \`retryLater\` is told each wait, ` +
      'and `crawlReport(robots, { every: 60_000 })` writes what waits',
    'CANFETCH_WAITING',
  );
}
