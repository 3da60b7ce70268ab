import { headerField, type HeaderFields } from '../base/index.ts';
import { gatekeeperIn, retryAfterMs } from '../lifecycle/index.ts';

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
