import { anAbortSignal, type Check, milliseconds, optionTable } from '../base/index.ts';

/** How requests to one origin are spaced. */
export interface PacingOptions {
  /**
   * The least time between two requests to an origin, also where its robots.txt asks for less or says nothing.
   * Milliseconds.
   * @default 0
   */
  readonly minDelayMs?: number;
  /**
   * The longest one request is held back. A slot further away is not booked: the request is deferred, and told when
   * to come again. A `Crawl-delay` is never shortened by it. Milliseconds; 0 never waits.
   * @default 300_000 for guards, no bound for `reserve`
   */
  readonly maxDelayMs?: number;
}

/** The options with every default in place. */
export interface Pace {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
}

/** The checks of {@link PacingOptions}. */
const PACING = {
  minDelayMs: milliseconds,
  maxDelayMs: milliseconds,
} satisfies Readonly<Record<keyof PacingOptions, Check>>;

/** The checks of the `pacing` of a guard, when it is no boolean. */
export const pacingOptions: Check = optionTable(
  PACING,
  'true, false or an object with `minDelayMs` and `maxDelayMs`',
);

const reserveOptions: Check = optionTable({ ...PACING, signal: anAbortSignal });

/**
 * Checks how a slot is to be booked and puts the defaults in.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function readReserveOptions(given: PacingOptions): Pace {
  reserveOptions(given, '');
  return paceOf(given, Infinity);
}

/** Puts the defaults in. */
export function paceOf({ minDelayMs = 0, maxDelayMs }: PacingOptions, defaultMaxDelayMs: number): Pace {
  return { minDelayMs, maxDelayMs: maxDelayMs ?? defaultMaxDelayMs };
}
