import {
  abortSignal,
  listOf,
  omitUndefined,
  type OptionRows,
  type Check,
  predicate,
  milliseconds,
  optionTable,
  RobotsInvalidOptionsError,
  wholeNumber,
  withDefaults,
} from '../base/index.ts';
import type { Decision } from '../decision/index.ts';
import { BUSY_STATUSES } from '../lifecycle/index.ts';

/**
 * What shares one queue, one gap, one `concurrency` and one pause. `'host'`: a host name and its port, whatever the
 * scheme. `'origin'`: as the rules of robots.txt. A function: the URLs for which it returns the same text.
 */
export type PacingScope = 'host' | 'origin' | ((url: URL) => string);

/** The pauses after responses that ask for one, and their length where the site names none. */
export interface BackOffOptions {
  /** The statuses that ask for a pause. @default [429, 503] */
  readonly statuses?: readonly number[];
  /** The first pause, in milliseconds. It doubles with each further incident, ± 10 %. @default 30_000 */
  readonly firstMs?: number;
  /** The longest pause, in milliseconds. @default 3_600_000 */
  readonly maxMs?: number;
}

/**
 * How a crawler behaves towards one host, or whatever else `scope` says.
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
   * The gap is at least so many times what the last response took to its header, up to `maxDelayMs` (five minutes for
   * `reserve` without it): a slow site is asked less often. 0 ignores it.
   * @default 0
   */
  readonly latencyFactor?: number;
  /**
   * Whether the gap doubles after each 429 or 503, or those of `backOff.statuses`, up to `maxDelayMs` (five minutes for
   * `reserve` without it), and comes back by a tenth for each minute without one. A `Crawl-delay` that is longer holds.
   * @default false
   */
  readonly learn?: boolean;
  /**
   * What shares one queue, one gap, one `concurrency` and one pause. `'host'`: the host name with its port, whatever the
   * scheme. `'origin'`: as the rules. A function: the URLs for which it returns the same text. Rules stay those of each
   * origin, and of two neighbours the longer gap holds.
   * @default 'host'
   * @example
   * ```ts
   * import { getDomain } from 'tldts';
   * guardFetch(fetch, robots, { pacing: { scope: ({ hostname }) => getDomain(hostname) ?? hostname } });
   * ```
   */
  readonly scope?: PacingScope;
  /**
   * The most requests in flight at the same time. All guards of a client share the permits, in order.
   * @default 1
   */
  readonly concurrency?: number;
  /**
   * The longest wait that a site may impose, in milliseconds: the wait of a request that is first in the queue of its
   * origin. Waiting for earlier requests of the same client does not count, nor for replies of the store; 0 never waits. A
   * request that would wait longer is not sent: a guard rejects with `RobotsDeferredError` (`ERR_ROBOTS_DEFERRED`), `reserve`
   * returns `status: 'deferred'`, both with `retryAt`. No delay is ever shortened.
   * @default 300_000 for guards, no bound for `reserve`
   */
  readonly maxDelayMs?: number;
  /**
   * The pauses after 429 and 503 responses, or those of `statuses`, without a usable `Retry-After`; `false` makes none. A
   * usable `Retry-After` is obeyed in any case, up to a day.
   * @default { firstMs: 30_000, maxMs: 3_600_000, statuses: [429, 503] }
   */
  readonly backOff?: false | BackOffOptions;
  /**
   * Whether a 403, a 999, or the challenge or block of a gatekeeper (Cloudflare, Vercel, AWS WAF, DataDome, Akamai) pauses
   * as a 429 does: many sites allow in robots.txt what their CDN refuses.
   * @default false
   */
  readonly pauseOnRefusal?: boolean;
}

/** Options of a booking, or a permit. */
export interface BookingOptions extends PacingOptions {
  /**
   * How many bookings may exist whose time has not come, whatever `concurrency` is. Without it a booking holds one of the
   * `concurrency` permits until `done` is called, or for 30 s from its start: behind a longer gap the next one is booked all
   * the same. `maxDelayMs` bounds how far ahead.
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
  /** The statuses that ask for a pause. Without back-off, those whose `Retry-After` counts. */
  readonly statuses: readonly number[];
  readonly maxTotalWaitMs: number;
}

const pauseMs: Check = wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a whole number of milliseconds above 0');
const BACK_OFF: OptionRows<Required<BackOffOptions>> = {
  firstMs: { check: pauseMs, default: 30_000 },
  maxMs: { check: pauseMs, default: 3_600_000 },
  statuses: {
    check: listOf(wholeNumber(200, 599, 'an HTTP status from 200 to 599'), 'a list of HTTP statuses', 0),
    default: BUSY_STATUSES,
  },
};
const backOffTable: Check = optionTable(
  BACK_OFF,
  'false or an object with `firstMs`, `maxMs` and `statuses`',
);
const backOffOf = (given: object): Required<BackOffOptions> => withDefaults(given, BACK_OFF);

const backOffOptions: Check = (value, path) => {
  if (value === false) return;
  backOffTable(value, path);
  const { firstMs, maxMs } = backOffOf(Object(value));
  if (firstMs <= maxMs) return;
  throw new RobotsInvalidOptionsError(
    `Expected \`${path}.firstMs\` to be no longer than \`maxMs\`, got ${firstMs} above ${maxMs}; give both`,
  );
};

const trueOrFalse: Check = predicate('true or false', (value) => typeof value === 'boolean');
const aboveZero: Check = wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a whole number above 0');

const PACING: OptionRows<Required<PacingOptions>> = {
  defaultDelayMs: { check: milliseconds, default: 500 },
  minDelayMs: { check: milliseconds, default: 0 },
  concurrency: { check: aboveZero, default: 1 },
  maxDelayMs: { check: milliseconds, default: Infinity },
  backOff: { check: backOffOptions, default: {} },
  pauseOnRefusal: { check: trueOrFalse, default: false },
  learn: { check: trueOrFalse, default: false },
  latencyFactor: {
    check: predicate(
      'a number, 0 or above',
      (value) => typeof value === 'number' && value >= 0 && value < Infinity,
    ),
    default: 0,
  },
  scope: {
    check: predicate(
      "'host', 'origin' or a function",
      (value) => value === 'host' || value === 'origin' || typeof value === 'function',
    ),
    default: 'host',
  },
};

/** Checks the `pacing` of a guard when it is neither a boolean nor a function. */
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
export function readReserveOptions(given: BookingOptions): Pace {
  reserveOptions(given, '');
  return paceOf(given, Infinity);
}

/** The pacing of all sites, or of each: returns false for one that is not paced. */
export type SitePacing = boolean | PacingOptions | ((url: URL) => boolean | PacingOptions);

/** Hosts whose pace is remembered. */
const MAX_HOSTS = 10_000;

/** The pace of a guard for each site. */
export class SitePaces {
  /** The longest wait that a site may impose, where it is the same for all sites. */
  readonly maxDelayMs: number;
  readonly #paceOf: (url: URL) => Pace | undefined;
  readonly #pace: Pace | undefined;
  readonly #byHost = new Map<string, Pace | undefined>();

  constructor(given: Exclude<SitePacing, false>, defaultMaxDelayMs: number) {
    const read = (options: boolean | PacingOptions): Pace | undefined =>
      options === false ? undefined : paceOf(options === true ? {} : options, defaultMaxDelayMs);
    if (typeof given !== 'function') this.#pace = read(given);
    this.maxDelayMs = this.#pace?.maxDelayMs ?? defaultMaxDelayMs;
    this.#paceOf = (url) => {
      const options: unknown = typeof given === 'function' ? given(url) : given;
      if (typeof options !== 'boolean') pacingOptions(options, `pacing(${url.host})`);
      return read(options as boolean | PacingOptions);
    };
  }

  /** The pace of a page's site; `undefined` when it is not paced. A function is asked once for each host. */
  of({ url, origin }: Pick<Decision, 'url' | 'origin'>): Pace | undefined {
    if (this.#pace !== undefined) return this.#pace;
    const host = hostOf(origin);
    const known = this.#byHost.get(host);
    if (known !== undefined || this.#byHost.has(host)) return known;
    if (this.#byHost.size >= MAX_HOSTS)
      for (const oldest of this.#byHost.keys()) if (this.#byHost.delete(oldest)) break;
    const pace = this.#paceOf(new URL(url));
    this.#byHost.set(host, pace);
    return pace;
  }
}

/** Adds the defaults. */
export function paceOf(given: BookingOptions, defaultMaxDelayMs: number): Pace {
  const { maxDelayMs = defaultMaxDelayMs, maxTotalWaitMs = Infinity, ahead } = given;
  const options = withDefaults<Required<PacingOptions>>(given, PACING);
  const backOff = options.backOff && backOffOf(options.backOff);
  const statuses = backOff ? backOff.statuses : BUSY_STATUSES;
  return { ...options, maxDelayMs, backOff, statuses, maxTotalWaitMs, ...omitUndefined({ ahead }) };
}

/**
 * The host of a serialised origin, with its port unless that is the default of the scheme. A trailing dot of the name is
 * dropped: `a.` and `a` are one server.
 */
export function hostOf(origin: string): string {
  const host = origin.slice(origin.indexOf('://') + 3);
  return host.endsWith('.') || host.includes('.:') ? host.replace(/\.(?=:\d+$|$)/, '') : host;
}
