import type { Agent } from '../rules/agent-tokens.ts';
import type { PacingOptions } from '../pacing/index.ts';

export interface CheckOptions {
  /** Rejects this call alone, with the signal's own reason; others who wait for the same origin go on. */
  readonly signal?: AbortSignal;
}

export interface PolicyOptions extends CheckOptions {
  /** Whom `group` and the delays of the policy are about. Default: the client's own. */
  readonly agent?: Agent;
}

/** How a slot is booked. */
export interface ReserveOptions extends CheckOptions, PacingOptions {}

/** What is known of a site's availability. */
export interface SiteSignal {
  readonly reachable: boolean;
  /** The `Retry-After` field of a page answer, as it came: seconds or an HTTP-date. Moves the origin's next slot. */
  readonly retryAfter?: string;
}

/** Counters since the client was made, and what it holds now. */
export interface RobotsStats {
  /** Origins in memory. */
  readonly origins: number;
  /** What they are reckoned to take. */
  readonly bytes: number;
  /** Attempts made to fetch a robots.txt, redirects not counted. */
  readonly attempts: number;
  /** Attempts under way or queued. */
  readonly inFlight: number;
  /** Questions answered from memory, and questions that had to wait. */
  readonly hits: number;
  readonly misses: number;
}
