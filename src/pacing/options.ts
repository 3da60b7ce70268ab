import { anAbortSignal, type Check, milliseconds, optionTable } from '../base/index.ts';

/**
 * Spacing of the requests to one origin.
 *
 * @example
 * ```ts
 * const polite = guardFetch(fetch, robots, { pacing: { minDelayMs: 1_000, maxDelayMs: 60_000 } });
 * ```
 */
export interface PacingOptions {
  /**
   * The least time between two requests to an origin, in milliseconds. A longer `Crawl-delay` or `Request-rate` of
   * its robots.txt takes precedence.
   * @default 0
   */
  readonly minDelayMs?: number;
  /**
   * The longest wait of one request, in milliseconds; 0 never waits. A slot further away is not booked: a guard
   * rejects with `RobotsDeferredError` (`ERR_ROBOTS_DEFERRED`), `reserve` returns `status: 'deferred'`, both with
   * `retryAt`. A `Crawl-delay` is never shortened.
   * @default 300_000 for guards, no bound for `reserve`
   */
  readonly maxDelayMs?: number;
}

/** The options with all defaults. */
export interface Pace {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
}

/** The checks of {@link PacingOptions}. */
const PACING = {
  minDelayMs: milliseconds,
  maxDelayMs: milliseconds,
} satisfies Readonly<Record<keyof PacingOptions, Check>>;

/** Checks the `pacing` of a guard when it is not a boolean. */
export const pacingOptions: Check = optionTable(
  PACING,
  'true, false or an object with `minDelayMs` and `maxDelayMs`',
);

const reserveOptions: Check = optionTable({ ...PACING, signal: anAbortSignal });

/**
 * Checks the options of `reserve` and adds the defaults.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function readReserveOptions(given: PacingOptions): Pace {
  reserveOptions(given, '');
  return paceOf(given, Infinity);
}

/** Adds the defaults. */
export function paceOf({ minDelayMs = 0, maxDelayMs }: PacingOptions, defaultMaxDelayMs: number): Pace {
  return { minDelayMs, maxDelayMs: maxDelayMs ?? defaultMaxDelayMs };
}
