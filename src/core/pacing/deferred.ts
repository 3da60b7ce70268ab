import { urlWithoutUserinfo } from '../base/index.ts';
import { type Decision, type DelayFrom, RefusedRequestError, type RedirectChain } from '../decision/index.ts';
import type { Deferral } from './starts.ts';

/**
 * What a request waits for, in words: by its name, and in a sentence that completes "because of the site: …". `length` is that
 * of the gap or of the pause.
 */
const DELAYS: Readonly<Record<DelayFrom, readonly [name: string, why: (length: string) => string]>> = {
  'crawl-delay': ['Crawl-delay', (length) => `its Crawl-delay${length}`],
  'request-rate': ['Request-rate', (length) => `its Request-rate, one request in${length.slice(3)}`],
  'default-delay': ['`defaultDelayMs`', (length) => `\`defaultDelayMs\`${length}`],
  'min-delay': ['`minDelayMs`', (length) => `\`minDelayMs\`${length}`],
  latency: ['`latencyFactor`', (length) => `its slow responses, by \`latencyFactor\` a gap${length}`],
  concurrency: ['`concurrency`', () => 'as many requests as `concurrency` allows are in flight'],
  'retry-after': ['Retry-After', (length) => `it asked for a pause${length} (Retry-After)`],
  'back-off': [
    'the back-off',
    (length) => `it refused requests, and named no time: a guessed pause${length}`,
  ],
};

/** The name of a delay: `Crawl-delay`. One of a later version, in a log, is its own name. */
export function delayName(delayFrom: string): string {
  return isKnown(delayFrom) ? DELAYS[delayFrom][0] : delayFrom;
}

const isKnown = (delayFrom: string): delayFrom is DelayFrom => Object.hasOwn(DELAYS, delayFrom);

/** Why a request is deferred, in words that complete "because of the site: …". */
export function describeDelay({
  delayFrom,
  causeMs,
}: Pick<RobotsDeferredError, 'delayFrom' | 'causeMs'>): string {
  const [, why] = DELAYS[delayFrom];
  return why(causeMs === undefined ? '' : ` of ${seconds(causeMs)}`);
}

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
  /** How long the cause is, in milliseconds: the gap, or the whole pause. Absent for `'concurrency'`. */
  readonly causeMs?: number | undefined;

  constructor(
    decision: Decision,
    {
      retryAt,
      delayFrom,
      causeMs,
      isFull = false,
      circumstance = 'further away than `maxDelayMs`',
    }: DeferredDetails,
    chain?: RedirectChain,
  ) {
    super(
      `${urlWithoutUserinfo(decision.url)} is deferred until ${new Date(retryAt).toISOString()}, ` +
        (isFull
          ? FULL
          : `${circumstance}, because of ${decision.origin}: ${describeDelay({ delayFrom, causeMs })}`),
      decision,
      chain,
    );
    if (causeMs !== undefined) this.causeMs = causeMs;
    this.retryAt = retryAt;
    this.delayFrom = delayFrom;
  }
}

interface DeferredDetails extends Omit<Deferral, 'causeMs'> {
  readonly causeMs?: number | undefined;
  /** Whether the maximum number of origins is paced. `delayFrom` is then `'concurrency'`. */
  readonly isFull?: boolean;
  /** What led to it, in words. */
  readonly circumstance?: string | undefined;
}

function seconds(ms: number): string {
  return `${new Intl.NumberFormat('en').format(Math.round(ms / 10) / 100)} s`;
}
