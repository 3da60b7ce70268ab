import {
  anAbortSignal,
  type Check,
  milliseconds,
  optionTable,
  RobotsInvalidOptionsError,
  wholeNumber,
} from '../base/index.ts';

/** The pauses after 429 and 503 answers that name no time themselves. */
export interface BackOffOptions {
  /** The first pause of an origin, in milliseconds. It doubles with each further incident, ± 10 %. @default 30_000 */
  readonly firstMs?: number;
  /** The longest pause, in milliseconds. @default 3_600_000 */
  readonly maxMs?: number;
}

/**
 * How a crawler behaves towards one origin.
 *
 * @example
 * ```ts
 * const polite = guardFetch(fetch, robots, { pacing: { defaultDelayMs: 1_000, concurrency: 2 } });
 * ```
 */
export interface PacingOptions {
  /**
   * The time between two requests to an origin whose robots.txt has neither `Crawl-delay` nor `Request-rate` for the
   * agent, in milliseconds. A delay of 0 that the site states is a statement, too.
   * @default 500
   */
  readonly defaultDelayMs?: number;
  /** The least time between two requests to an origin, in milliseconds, whatever the site states. @default 0 */
  readonly minDelayMs?: number;
  /**
   * The most requests to an origin that are under way at the same time. All guards of a client share the places; the
   * next request waits, in order.
   * @default 1
   */
  readonly concurrency?: number;
  /**
   * The longest wait of one request, in milliseconds; 0 never waits. A request that would wait longer is not sent: a
   * guard rejects with `RobotsDeferredError` (`ERR_ROBOTS_DEFERRED`), `reserve` returns `status: 'deferred'`, both with
   * `retryAt`. No delay is ever shortened.
   * @default 300_000 for guards, no bound for `reserve`
   */
  readonly maxDelayMs?: number;
  /**
   * The pauses after 429 and 503 answers without a usable `Retry-After`; `false` makes none. A usable `Retry-After` is
   * obeyed in any case, up to a day.
   * @default { firstMs: 30_000, maxMs: 3_600_000 }
   */
  readonly backOff?: false | BackOffOptions;
}

/** The options with all defaults. */
export interface Pace extends Required<PacingOptions> {
  readonly maxTotalWaitMs?: number;
  readonly backOff: false | Required<BackOffOptions>;
}

const aPause: Check = wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a whole number of milliseconds above 0');
const backOffTable: Check = optionTable(
  { firstMs: aPause, maxMs: aPause } satisfies Readonly<Record<keyof BackOffOptions, Check>>,
  'false or an object with `firstMs` and `maxMs`',
);

const backOffOptions: Check = (value, path) => {
  if (value === false) return;
  backOffTable(value, path);
  const { firstMs, maxMs } = backOffOf(Object(value));
  if (firstMs <= maxMs) return;
  throw new RobotsInvalidOptionsError(
    `Expected \`${path}.firstMs\` to be no longer than \`maxMs\`, got ${firstMs} above ${maxMs}; give both`,
  );
};

/** The checks of {@link PacingOptions}. */
const PACING = {
  defaultDelayMs: milliseconds,
  minDelayMs: milliseconds,
  concurrency: wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a whole number above 0'),
  maxDelayMs: milliseconds,
  backOff: backOffOptions,
} satisfies Readonly<Record<keyof PacingOptions, Check>>;

/** Checks the `pacing` of a guard when it is not a boolean. */
export const pacingOptions: Check = optionTable(
  PACING,
  'true, false or an object with options such as `defaultDelayMs` and `concurrency`',
);

const reserveOptions: Check = optionTable({ ...PACING, signal: anAbortSignal });

/**
 * Checks the options of `reserve` and adds the defaults.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function readReserveOptions(given: PacingOptions | Pace): Pace {
  if (isPace(given)) return given;
  reserveOptions(given, '');
  return paceOf(given, Infinity);
}

/** Those made here, so that the pace of a guard is not checked again for each request. */
const paces = new WeakSet<PacingOptions>();

function isPace(given: PacingOptions): given is Pace {
  return paces.has(given);
}

/** Adds the defaults. */
export function paceOf(given: PacingOptions, longestWaitMs: number): Pace {
  const {
    defaultDelayMs = 500,
    minDelayMs = 0,
    concurrency = 1,
    maxDelayMs = longestWaitMs,
    backOff = {},
  } = given;
  const pace = {
    defaultDelayMs,
    minDelayMs,
    concurrency,
    maxDelayMs,
    backOff: backOff && backOffOf(backOff),
  };
  paces.add(pace);
  return pace;
}

function backOffOf({ firstMs = 30_000, maxMs = 3_600_000 }: BackOffOptions): Required<BackOffOptions> {
  return { firstMs, maxMs };
}
