import type { Decision } from '../decision/index.ts';
import type { Pace } from './options.ts';

/** The time between the starts of two requests to an origin, and what sets it. */
export interface Gap {
  readonly delayMs: number;
  readonly delayFrom: 'crawl-delay' | 'request-rate' | 'default-delay' | 'min-delay' | 'latency' | 'back-off';
}

/** The longest delay that the site states, 0 included; else the default. Never under `minDelayMs`. */
export function gapOf(
  { crawlDelayMs }: Pick<Decision, 'crawlDelayMs'>,
  requestRateMs: number | undefined,
  { defaultDelayMs, minDelayMs }: Pick<Pace, 'defaultDelayMs' | 'minDelayMs'>,
): Gap {
  const gap = statedGap(crawlDelayMs, requestRateMs) ?? defaultGap(defaultDelayMs);
  return gap.delayMs < minDelayMs ? { delayMs: minDelayMs, delayFrom: 'min-delay' } : gap;
}

function statedGap(crawlDelayMs: number | undefined, requestRateMs: number | undefined): Gap | undefined {
  if (requestRateMs !== undefined && requestRateMs > (crawlDelayMs ?? -1)) {
    return { delayMs: requestRateMs, delayFrom: 'request-rate' };
  }
  return crawlDelayMs === undefined ? undefined : { delayMs: crawlDelayMs, delayFrom: 'crawl-delay' };
}

export function defaultGap(delayMs: number): Gap {
  return { delayMs, delayFrom: 'default-delay' };
}

/** The longer gap of two neighbours counts, so that a new delay applies at once. */
export function longer(one: Gap, other: Gap | undefined): Gap {
  return other === undefined || one.delayMs > other.delayMs ? one : other;
}

/** A gap that became longer because the site asked to try again later. */
export interface LearntGap {
  readonly delayMs: number;
  /** Responses to requests that started before say the same. */
  readonly learntAt: number;
  /** It comes back from then on. */
  readonly quietFrom: number;
}

const QUIET_MS = 60_000;
/** What is left of it after a quiet minute. */
const LEFT_SHARE = 0.9;

/** The gap that is left of one that was learnt. */
export function learntGapAt({ delayMs, quietFrom }: LearntGap, now: number): Gap {
  const minutes = Math.max(0, Math.floor((now - quietFrom) / QUIET_MS));
  return { delayMs: Math.round(delayMs * LEFT_SHARE ** minutes), delayFrom: 'back-off' };
}

/** The gap doubles after a response that asked to try again later, once for all requests that were in flight then. */
export function gapAfterNotNow(
  before: LearntGap | undefined,
  { delayMs, maxMs, startedAt, now, quietFrom }: NotNow,
): LearntGap {
  if (before !== undefined && startedAt <= before.learntAt) return { ...before, quietFrom };
  return { delayMs: Math.min(2 * delayMs, Math.max(delayMs, maxMs)), learntAt: now, quietFrom };
}

interface NotNow {
  /** The gap that the request kept. */
  readonly delayMs: number;
  readonly maxMs: number;
  readonly startedAt: number;
  readonly now: number;
  /** The end of the pause. */
  readonly quietFrom: number;
}
