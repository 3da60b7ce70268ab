import {
  abortSignal,
  type Check,
  predicate,
  milliseconds,
  optionTable,
  RobotsInvalidOptionsError,
  wholeNumber,
} from '../base/index.ts';

/** The pauses after responses that ask for one and name no time. */
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
   * The gap between the starts of two requests to an origin whose robots.txt has neither `Crawl-delay` nor `Request-rate`
   * for the agent, in milliseconds. A stated delay of 0 is a statement, too.
   * @default 500
   */
  readonly defaultDelayMs?: number;
  /** The shortest gap, in milliseconds, whatever the site states. @default 0 */
  readonly minDelayMs?: number;
  /**
   * The most requests to an origin in flight at the same time. All guards of a client share the permits, in order.
   * @default 1
   */
  readonly concurrency?: number;
  /**
   * The longest wait that a site may impose, in milliseconds: the wait of a request that is first in the queue of its
   * origin. Waiting for earlier requests of the same client does not count, nor for replies of the store; 0 never waits. A request that would wait
   * longer is not sent: a guard rejects with `RobotsDeferredError` (`ERR_ROBOTS_DEFERRED`), `reserve` returns
   * `status: 'deferred'`, both with `retryAt`. No delay is ever shortened.
   * @default 300_000 for guards, no bound for `reserve`
   */
  readonly maxDelayMs?: number;
  /**
   * The pauses after 429 and 503 responses without a usable `Retry-After`; `false` makes none. A usable `Retry-After` is
   * obeyed in any case, up to a day.
   * @default { firstMs: 30_000, maxMs: 3_600_000 }
   */
  readonly backOff?: false | BackOffOptions;
  /**
   * Whether a 403, a 999 or a challenge (`cf-mitigated`) pauses the origin as a 429 does: many sites allow in robots.txt
   * what their CDN refuses.
   * @default false
   */
  readonly pauseOnRefusal?: boolean;
}

/** Options of a booking, or a permit. */
export interface BookingOptions extends PacingOptions {
  /**
   * How many bookings may exist whose time has not come, whatever `concurrency` is. Without it a booking holds one of the
   * `concurrency` permits until `done` is called.
   */
  readonly ahead?: number;
  /**
   * The longest wait of a request in all, that for earlier requests of the same client included, in milliseconds. For
   * callers that do nothing else meanwhile.
   * @default no bound
   */
  readonly maxTotalWaitMs?: number;
}

/** The options with all defaults. */
export interface Pace extends Required<PacingOptions>, Pick<BookingOptions, 'ahead'> {
  readonly backOff: false | Required<BackOffOptions>;
  readonly maxTotalWaitMs: number;
}

const pauseMs: Check = wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a whole number of milliseconds above 0');
const backOffTable: Check = optionTable(
  { firstMs: pauseMs, maxMs: pauseMs } satisfies Readonly<Record<keyof BackOffOptions, Check>>,
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

const aboveZero: Check = wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a whole number above 0');

/** The checks of {@link PacingOptions}. */
const PACING = {
  defaultDelayMs: milliseconds,
  minDelayMs: milliseconds,
  concurrency: aboveZero,
  maxDelayMs: milliseconds,
  backOff: backOffOptions,
  pauseOnRefusal: predicate('true or false', (value) => typeof value === 'boolean'),
} satisfies Readonly<Record<keyof PacingOptions, Check>>;

/** Checks the `pacing` of a guard when it is not a boolean. */
export const pacingOptions: Check = optionTable(
  PACING,
  'true, false or an object with options such as `defaultDelayMs` and `concurrency`',
);

const reserveOptions: Check = optionTable({
  ...PACING,
  ahead: aboveZero,
  maxTotalWaitMs: milliseconds,
  signal: abortSignal,
});

/**
 * Checks the options of `reserve` and adds the defaults.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function readReserveOptions(given: BookingOptions | Pace): Pace {
  if (isPace(given)) return given;
  reserveOptions(given, '');
  return paceOf(given, Infinity);
}

/** Those of guards. Others are not kept: a weak set of thousands costs more at each garbage collection than the checks. */
const paces = new WeakSet<PacingOptions>();

function isPace(given: PacingOptions): given is Pace {
  return paces.has(given);
}

/** {@link paceOf} for a guard: it is not checked again for each request. */
export function guardPaceOf(given: PacingOptions, defaultMaxDelayMs: number): Pace {
  const pace = paceOf(given, defaultMaxDelayMs);
  paces.add(pace);
  return pace;
}

/** Adds the defaults. */
export function paceOf(given: BookingOptions, defaultMaxDelayMs: number): Pace {
  const { backOff = {}, ahead } = given;
  return {
    ...(ahead === undefined ? undefined : { ahead }),
    defaultDelayMs: given.defaultDelayMs ?? 500,
    minDelayMs: given.minDelayMs ?? 0,
    concurrency: given.concurrency ?? 1,
    maxDelayMs: given.maxDelayMs ?? defaultMaxDelayMs,
    backOff: backOff && backOffOf(backOff),
    pauseOnRefusal: given.pauseOnRefusal ?? false,
    maxTotalWaitMs: given.maxTotalWaitMs ?? Infinity,
  };
}

function backOffOf({ firstMs = 30_000, maxMs = 3_600_000 }: BackOffOptions): Required<BackOffOptions> {
  return { firstMs, maxMs };
}
