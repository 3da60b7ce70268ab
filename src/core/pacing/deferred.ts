import { urlWithoutUserinfo } from '../base/index.ts';
import { type Decision, type DelayFrom, RefusedRequestError, type RedirectChain } from '../decision/index.ts';

const WHY: Readonly<Record<DelayFrom, string>> = {
  'crawl-delay': 'its Crawl-delay',
  'request-rate': 'its Request-rate',
  'default-delay': '`defaultDelayMs`',
  'min-delay': '`minDelayMs`',
  concurrency: 'as many requests as `concurrency` allows are in flight',
  'retry-after': 'it asked for a pause (Retry-After)',
  'back-off': 'it refused requests (429 or 503), so they pause',
};

const FULL =
  'because requests to as many other origins wait, are in flight or pause as can be paced at a time: set ' +
  '`cache.maxOrigins` higher, or crawl fewer origins at a time';

/**
 * A pacing guard did not send a request, because the site imposes a wait longer than `maxDelayMs`, or no further origin
 * can be paced. The request is allowed; try again at `retryAt`.
 */
export class RobotsDeferredError extends RefusedRequestError {
  override readonly name = 'RobotsDeferredError';
  readonly code = 'ERR_ROBOTS_DEFERRED';
  /** Epoch ms from which a new try makes sense. Nothing is booked for it. */
  override readonly retryAt: number;
  /** Why the request cannot start before. */
  readonly delayFrom: DelayFrom;
  /** Whether the maximum number of origins is paced. `delayFrom` is then `'concurrency'`. */
  readonly isFull: boolean;

  constructor(
    decision: Decision,
    {
      retryAt,
      delayFrom,
      isFull = false,
    }: { readonly retryAt: number; readonly delayFrom: DelayFrom; readonly isFull?: boolean },
    chain?: RedirectChain,
  ) {
    super(
      `${urlWithoutUserinfo(decision.url)} is deferred until ${new Date(retryAt).toISOString()}, ` +
        (isFull
          ? FULL
          : `further away than \`maxDelayMs\`, because of ${decision.origin}: ${WHY[delayFrom]}`),
      decision,
      chain,
    );
    this.isFull = isFull;
    this.retryAt = retryAt;
    this.delayFrom = delayFrom;
  }
}
