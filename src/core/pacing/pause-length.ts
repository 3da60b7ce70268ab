import { omitUndefined, headerField, type HeaderFields } from '../base/index.ts';
import type { Pause } from '../decision/index.ts';
import { gatekeeperIn, retryAfterMs } from '../lifecycle/index.ts';

/** What may begin a pause, or lengthen one. */
export interface PauseSignal {
  readonly now: number;
  /** When the request started; `undefined` when that is not known. */
  readonly startedAt: number | undefined;
  readonly status?: number | undefined;
  /** The pause that the site asks for; `undefined` when it names no usable time. */
  readonly askedMs: number | undefined;
  /** What another process learnt that pause by. @default 'retry-after' */
  readonly cause?: Pause['delayFrom'] | undefined;
  /** The pause to make then. */
  readonly backOff: { readonly firstMs: number; readonly maxMs: number } | false;
  /** A number in [0, 1). */
  readonly random: () => number;
}

/** After this time without an incident the count restarts. */
const INCIDENT_RESET_MS = 30 * 60 * 1000;
const JITTER_SHARE = 0.1;

/** Whether the next pause after this one counts as a further incident. */
export function isWithinCooldown({ until }: Pause, now: number): boolean {
  return now - until < INCIDENT_RESET_MS;
}

/**
 * The pause after a signal; `undefined` when the one before it, if any, stays as it is.
 *
 * Many responses may belong to one incident: an overloaded site refuses all requests in flight. So the response to a
 * request that started before the pause does not begin another. The time of a booking may come during a pause: its
 * response may begin the next incident, but never ends the pause sooner.
 */
export function nextPause(before: Pause | undefined, signal: PauseSignal): Pause | undefined {
  const { now, startedAt, status, askedMs, cause: delayFrom = 'retry-after', backOff, random } = signal;
  const about = omitUndefined({ status });
  if (before !== undefined && (startedAt === undefined ? now < before.until : startedAt <= before.from)) {
    if (askedMs === undefined || now + askedMs <= before.until) return undefined;
    return { ...before, ...about, until: now + askedMs, delayFrom };
  }
  const incident = before !== undefined && isWithinCooldown(before, now) ? before.incident + 1 : 1;
  const earliestEnd = before?.until ?? now;
  if (askedMs !== undefined) {
    const until = Math.max(earliestEnd, now + askedMs);
    return { ...about, from: now, until, incident, delayFrom };
  }
  if (backOff === false) return undefined;
  const { firstMs, maxMs } = backOff;
  const doubledMs = Math.min(firstMs * 2 ** (incident - 1), maxMs);
  const jitteredMs = doubledMs * (1 + JITTER_SHARE * (2 * random() - 1));
  const until = Math.max(earliestEnd, now + Math.min(Math.round(jitteredMs), maxMs));
  return { ...about, from: now, until, incident, delayFrom: 'back-off' };
}

/** The response to a page request, as far as pacing needs it. */
export interface PageResponse {
  /** The status code. 429 and 503, or those of `backOff.statuses`, ask for a pause. */
  readonly status?: number;
  /** The header fields, in any form that a library has: `Retry-After` and the marks of gatekeepers are read. */
  readonly headers?: HeaderFields;
  /** Why there was no response. */
  readonly error?: unknown;
  /**
   * Of a booking: when the request was sent, in epoch ms. If that was late, the gap to the next one counts from then.
   * @default the time of the booking
   */
  readonly startedAt?: number;
}

/** The longest pause that a site may ask for: a day. */
const MAX_ASKED_MS = 24 * 60 * 60 * 1000;

/** Whether the site, or the service before it, refused the crawler. 999 is LinkedIn's. */
export function isEdgeRefusal(response: PageResponse): boolean {
  const { status } = response;
  return status === 403 || status === 999 || gatekeeperIn(response) !== undefined;
}

/** The pause that a `Retry-After` field asks for; `undefined` when it names no usable time. */
export function askedPauseMs(retryAfter: string | undefined, epochMs: number): number | undefined {
  return retryAfterMs(retryAfter, epochMs, { minMs: 0, maxMs: MAX_ASKED_MS });
}

/** The pause that a response asks for. */
export function askedPauseOf({ headers }: PageResponse, epochMs: number): number | undefined {
  return askedPauseMs(headerField(headers, 'retry-after'), epochMs);
}
