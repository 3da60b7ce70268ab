import { omitUndefined } from '../base/index.ts';
import type { Pause } from '../decision/index.ts';
import { retryAfterMs } from '../lifecycle/index.ts';
import type { Pace } from './options.ts';

/** The answer to a request, as far as pacing needs it. */
export interface PageAnswer {
  /** The status code. 429 and 503 ask for a pause. */
  readonly status?: number;
  /** The header fields, of which `Retry-After` is read: `Headers`, or an object with names in lower case. */
  readonly headers?:
    | { get(name: string): string | null | undefined }
    | Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** What was learnt that may begin a pause, or lengthen one. */
export interface PauseSignal {
  readonly now: number;
  /** When the request left; `undefined` when that is not known. */
  readonly leftAt: number | undefined;
  readonly status?: number | undefined;
  /** The pause that the site asks for; `undefined` when it names no usable time. */
  readonly askedMs: number | undefined;
  /** The pause to make then. */
  readonly backOff: Pace['backOff'];
  /** A number in [0, 1). */
  readonly random: () => number;
}

/** The longest pause that a site may ask for: a day. */
const MAX_ASKED_MS = 24 * 60 * 60 * 1000;
/** After so long a time without an incident the count begins anew. */
const FORGIVEN_MS = 30 * 60 * 1000;
const JITTER_SHARE = 0.1;

/** RFC 6585 §4 and RFC 9110 §15.6.4: the statuses that ask to come back later. */
export function asksForPause(status: number | undefined): status is 429 | 503 {
  return status === 429 || status === 503;
}

/**
 * The pause that a `Retry-After` field asks for; `undefined` when it names no usable time: it is missing, unreadable,
 * negative, 0 or in the past.
 */
export function askedPauseMs(retryAfter: string | undefined, epochMs: number): number | undefined {
  const askedMs = retryAfterMs(retryAfter, epochMs, { minMs: 0, maxMs: MAX_ASKED_MS });
  return askedMs === 0 ? undefined : askedMs;
}

/** The `Retry-After` field of an answer. Of several lines the first counts. */
export function retryAfterOf({ headers }: PageAnswer): string | undefined {
  if (headers === undefined) return undefined;
  const field: unknown =
    typeof headers.get === 'function' ? headers.get('retry-after') : Reflect.get(headers, 'retry-after');
  const first: unknown = Array.isArray(field) ? field[0] : field;
  return typeof first === 'string' ? first : undefined;
}

/** Whether the next pause after this one counts as a further incident. */
export function isRemembered({ until }: Pause, now: number): boolean {
  return now - until < FORGIVEN_MS;
}

/**
 * The pause after a signal; `undefined` when the one before it, if any, stays as it is.
 *
 * Many answers may tell of one incident: a site that is overloaded refuses all requests that are under way. So an
 * answer to a request that left before the pause began does not begin another. The time of a request that was booked may
 * come during a pause: its answer may begin the next incident, but never ends the pause sooner.
 */
export function nextPause(before: Pause | undefined, signal: PauseSignal): Pause | undefined {
  const { now, leftAt, status, askedMs, backOff, random } = signal;
  const about = omitUndefined({ status });
  if (before !== undefined && (leftAt === undefined ? now < before.until : leftAt <= before.from)) {
    if (askedMs === undefined || now + askedMs <= before.until) return undefined;
    return { ...before, ...about, until: now + askedMs, delayFrom: 'retry-after' };
  }
  const incident = before !== undefined && isRemembered(before, now) ? before.incident + 1 : 1;
  const least = before?.until ?? now;
  if (askedMs !== undefined) {
    const until = Math.max(least, now + askedMs);
    return { ...about, from: now, until, incident, delayFrom: 'retry-after' };
  }
  if (backOff === false) return undefined;
  const { firstMs, maxMs } = backOff;
  const doubledMs = Math.min(firstMs * 2 ** (incident - 1), maxMs);
  const jitteredMs = doubledMs * (1 + JITTER_SHARE * (2 * random() - 1));
  const until = Math.max(least, now + Math.min(Math.round(jitteredMs), maxMs));
  return { ...about, from: now, until, incident, delayFrom: 'back-off' };
}
