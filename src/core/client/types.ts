import type { Agent } from '../rules/agent-tokens.ts';
import type { Purpose } from '../decision/index.ts';
import type { BookingOptions, PacingTotals } from '../pacing/index.ts';

export interface CheckOptions {
  /** Rejects this call only, with the reason of the signal. Other callers for the origin are not affected. */
  readonly signal?: AbortSignal;
}

/** Options of `check`. */
export interface PurposeOptions extends CheckOptions {
  /** The purpose of fetching the page: the decision then has `usage`, the site's statements about it. `allowed` stays as it is. */
  readonly purpose?: Purpose;
}

export interface PolicyOptions extends CheckOptions {
  /** The agent that `group` and the delays of the policy are for. Default: the client's own. */
  readonly agent?: Agent;
}

/** Options of a booking. */
export interface ReserveOptions extends CheckOptions, BookingOptions {}

/** A report about the availability of a site. */
export interface SiteSignal {
  readonly reachable: boolean;
  /**
   * The `Retry-After` field of a page response, as received: seconds or an HTTP-date. Pauses the origin.
   */
  readonly retryAfter?: string;
}

/** Counters since the client was made, and current sizes. */
export interface RobotsStats {
  /** Origins in memory. */
  readonly origins: number;
  /** Their estimated size in bytes. */
  readonly bytes: number;
  /** Attempts to fetch a robots.txt. Redirects do not count. */
  readonly attempts: number;
  /** Attempts in flight or queued. */
  readonly inFlight: number;
  /** Questions served from memory, and questions that had to wait. */
  readonly hits: number;
  readonly misses: number;
  /** Page requests under `pacing`, of all origins. */
  readonly pacing: PacingTotals;
}
