import { type Decision, RefusedRequestError, type RequestWay } from '../decision/index.ts';
import type { DelayFrom } from './timetable.ts';

const WHY: Readonly<Record<DelayFrom, string>> = {
  'crawl-delay': 'its Crawl-delay',
  'request-rate': 'its Request-rate',
  'default-delay': '`defaultDelayMs`',
  'min-delay': '`minDelayMs`',
  concurrency: 'as many requests as `concurrency` allows are under way',
  'retry-after': 'it asked for a pause (Retry-After)',
  'back-off': 'it answered 429 or 503, so requests pause',
};

/**
 * A pacing guard did not send a request, because it would have to wait longer than `maxDelayMs`. The request is allowed;
 * try again at `retryAt`.
 */
export class RobotsDeferredError extends RefusedRequestError {
  override readonly name = 'RobotsDeferredError';
  readonly code = 'ERR_ROBOTS_DEFERRED';
  /** Epoch ms from which a new try makes sense. No slot is booked for it. */
  readonly retryAt: number;
  /** Why the request cannot leave before. */
  readonly delayFrom: DelayFrom;

  constructor(
    decision: Decision,
    { retryAt, delayFrom }: { readonly retryAt: number; readonly delayFrom: DelayFrom },
    way?: RequestWay,
  ) {
    super(
      `${decision.url} is deferred until ${new Date(retryAt).toISOString()}, further away than \`maxDelayMs\`, because ` +
        `of ${decision.origin}: ${WHY[delayFrom]}`,
      decision,
      way,
    );
    this.retryAt = retryAt;
    this.delayFrom = delayFrom;
  }
}
