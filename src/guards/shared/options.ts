import type { LookupFunction } from 'node:net';
import {
  func,
  hasMethod,
  type Check,
  type Clock,
  fields,
  isText,
  predicate,
  isFunction,
  oneOf,
  optionTable,
  RobotsInvalidOptionsError,
  systemClock,
  wholeNumber,
} from '../../core/base/index.ts';
import { type Decision, type Purpose, PURPOSES, type RedirectChain } from '../../core/decision/index.ts';
import { ADDRESS_POLICIES, type AddressPolicy } from '../../core/net/address-policy.ts';
import { type Agent, agentTokens } from '../../core/decision/agent-tokens.ts';
import type { Refusal } from '../../core/client/refusal-errors.ts';
import { pacingOptions, SitePaces, type SitePacing } from '../../core/pacing/index.ts';

/** A request to which the site responded with 402 (Payment Required). */
export interface PaymentRequired {
  readonly url: string;
  /** As the site states it, in `crawler-price` or an offer of x402. */
  readonly price?: string;
}

/** Options of every guard. `Result` is the type that the guarded library resolves with. */
export interface GuardOptions<Result = unknown> {
  /** The agent to decide for. @default the client's own agent */
  readonly agent?: Agent;
  /**
   * `'report'` is a dry run: `onRefusal` is called for each request that would be refused, and the request is sent.
   * @default 'enforce'
   */
  readonly mode?: 'enforce' | 'report';
  /**
   * The treatment of a request that may not be made. `'throw'`: it rejects with `RobotsDisallowedError` or
   * `RobotsUnreachableError`. `'response'`: it resolves with a 403, or with a 503 and `retry-after` when robots.txt
   * is unreachable; `x-robots-reason` has the reason, and `refusalIn(response)` everything. A function: it resolves with the
   * function's result. Its second argument is the error that `'throw'` rejects with.
   * @default 'throw'
   * @example
   * ```ts
   * const polite = guardFetch(fetch, robots, {
   *   onDisallow: (decision) => Response.json({ reason: decision.reason }, { status: 451 }),
   * });
   * ```
   */
  readonly onDisallow?:
    | 'throw'
    | 'response'
    | ((decision: Decision, refusal: Refusal) => Result | Promise<Result>);
  /**
   * Whether the guard adds `agent` (by default the client's) as `User-Agent` to a request without one: a site should
   * see the name that its robots.txt was checked for (RFC 9309 §2.2.1). A `User-Agent` set by the caller is kept. The
   * defaults of libraries (`node`, `undici`, `got (https://…)`, `axios/1.2.3`) are replaced. `false` changes nothing.
   * Crawlee and browsers choose a `User-Agent` of their own: `true` replaces it, and without the option the process is warned
   * once when it names another product token than `agent`.
   * @default true; for Crawlee and browsers only the warning
   */
  readonly identify?: boolean;
  /**
   * The purpose for which pages are fetched. A page that the site disallows for this purpose (see `usage` of
   * `canfetch/rules`) is refused with `RobotsUsageError` (`ERR_ROBOTS_USAGE`). Preferences in robots.txt are checked
   * before the request; the `Content-Usage` and `Content-Signal` fields of a response before its body is read.
   * `gotHooks`, `guardAxios` over Node's HTTP and `sendRequest` of Crawlee see these fields only after the body.
   * @default not checked
   */
  readonly purpose?: Purpose;
  /** Whether a page is refused when the site states no preference about `purpose`. @default 'allow' */
  readonly onUnknownPurpose?: 'allow' | 'refuse';
  /**
   * Return `false` for URLs that are not crawled, such as those of an API. They are requested without a check.
   * @default every URL is checked
   * @example
   * ```ts
   * const polite = guardFetch(fetch, robots, { filter: (url) => url.hostname !== 'api.example.com' });
   * ```
   */
  readonly filter?: (url: URL) => boolean;
  /**
   * Called for each refusal, in both modes, with the decision and the redirects that led to its URL. If it throws or
   * rejects, the process is warned once.
   * @default none
   */
  readonly onRefusal?: (decision: Decision, chain: RedirectChain) => void;
  /**
   * Called for each response with status 402 (Payment Required), with the price that it states (`crawler-price`, x402).
   * The response goes to the caller as it is. If it throws or rejects, the process is warned once.
   * @default none
   */
  readonly onPaymentRequired?: (required: PaymentRequired) => void;
  /**
   * The longest time of one request, in milliseconds: from its start until its body has ended, each redirect anew. Waiting
   * for robots.txt, for a permit or for a pause does not count, as it does with `AbortSignal.timeout()`. Then the request
   * fails with a `TimeoutError`. `guardFetch`, `robotsInterceptor` and axios over `fetch` only: other libraries have a limit of
   * their own.
   * @default none
   * @example
   * ```ts
   * const polite = guardFetch(fetch, robots, { pacing: true, timeoutMs: 30_000 });
   * ```
   */
  readonly timeoutMs?: number;
  /** The clock that `retry-after` counts from. @default the system clock */
  readonly clock?: Clock;
  /**
   * Polite behaviour towards each host: the gap that it states between two requests, else half a second; one request
   * at a time; a pause after a 429 or 503. A function gives each site its own; it is asked once for each host. Redirects count as requests. A request that would wait longer than
   * `maxDelayMs` (five minutes) rejects with `RobotsDeferredError` (`ERR_ROBOTS_DEFERRED`, with `retryAt`), whatever `onDisallow`
   * is: it is allowed, but not yet. At most 1,000 origins, or `cache.maxOrigins` of the client if that is more, are paced
   * at a time; requests to further ones are deferred, too.
   * @default false
   * @example
   * ```ts
   * const polite = guardFetch(fetch, robots, { pacing: { minDelayMs: 1_000, maxDelayMs: 60_000 } });
   * ```
   */
  readonly pacing?: SitePacing;
  /**
   * The addresses that page requests may go to; `guardFetch` only. A refused address rejects with
   * `RobotsAddressRefusedError` (`ERR_ROBOTS_ADDRESS_REFUSED`) before a connection is opened, whatever `mode`,
   * `filter`, `onDisallow` and `robots: { ignore }` are: those are about robots.txt. Requests for robots.txt follow
   * the `addressPolicy` of the client, which must be as strict (`ERR_ROBOTS_INVALID_OPTIONS`); otherwise robots.txt
   * would be requested where no page may be.
   *
   * To check addresses, the guard passes a `dispatcher` of its own in the `init` of each hop; it replaces the global
   * one, and one built into a `Request`. This works with the `fetch` of Node and of undici. With a `dispatcher` in
   * the caller's `init`, or a fetch without dispatchers, the policy holds for addresses in URLs (literals,
   * `localhost`), and a host name counts as public.
   * @default not checked
   */
  readonly addressPolicy?: AddressPolicy;
  /**
   * Resolves host names for `addressPolicy`, with the signature of `dns.lookup`.
   * @default `dns.lookup`
   */
  readonly lookup?: LookupFunction;
}

/** Options of guards that cannot substitute a response. They refuse by throwing. */
export type ThrowingGuardOptions = Omit<
  GuardOptions,
  'onDisallow' | 'addressPolicy' | 'lookup' | 'timeoutMs'
>;

/** The options, checked, with all defaults. */
export interface GuardSettings<Result> extends Omit<
  GuardOptions<Result>,
  'mode' | 'onUnknownPurpose' | 'pacing'
> {
  /** `false` in a dry run. */
  readonly enforces: boolean;
  readonly onDisallow: NonNullable<GuardOptions<Result>['onDisallow']>;
  readonly refusesUnknown: boolean;
  readonly clock: Clock;
  readonly pace: SitePaces | undefined;
  /** Whether the caller has said something of `pacing`; `false` is a word, too. */
  readonly isPaceSaid: boolean;
  readonly addressPolicy: AddressPolicy;
}

/** The longest wait when the caller sets none. */
const MAX_DELAY_MS = 5 * 60 * 1000;

const guardOptions: Check = optionTable<keyof GuardOptions>({
  // `agentTokens` checks its content.
  agent: predicate(
    'a string or a list of strings',
    (value) => typeof value === 'string' || Array.isArray(value),
  ),
  mode: oneOf(['enforce', 'report']),
  onDisallow: predicate(
    "'throw', 'response' or a function",
    (value) => value === 'throw' || value === 'response' || isFunction(value),
  ),
  purpose: oneOf(PURPOSES),
  onUnknownPurpose: oneOf(['allow', 'refuse']),
  identify: predicate('true or false', (value) => typeof value === 'boolean'),
  filter: func(),
  onRefusal: func(),
  onPaymentRequired: func(),
  timeoutMs: wholeNumber(1, 2 ** 31 - 1, 'a whole number of milliseconds, at least 1'),
  clock: hasMethod('now', 'an object whose `now()` returns epoch milliseconds'),
  pacing: (value, path) => {
    if (typeof value !== 'boolean' && typeof value !== 'function') pacingOptions(value, path);
  },
  addressPolicy: oneOf(ADDRESS_POLICIES),
  lookup: func('like dns.lookup'),
});

/**
 * Checks the options of a guard and adds the defaults.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`). The message names the option, what was expected
 * and what came.
 */
export function readGuardOptions<Result>(given: GuardOptions<Result>): GuardSettings<Result> {
  guardOptions(given, '');
  const { agent, lookup, addressPolicy = 'any' } = given;
  if (lookup !== undefined && addressPolicy === 'any') {
    throw new RobotsInvalidOptionsError(
      'Expected `lookup` together with an `addressPolicy` other than "any", got `lookup` alone',
    );
  }
  if (agent !== undefined) agentTokens(agent);
  const { onDisallow = 'throw', clock = systemClock, pacing = false } = given;
  return {
    ...given,
    enforces: given.mode !== 'report',
    onDisallow,
    refusesUnknown: given.onUnknownPurpose === 'refuse',
    clock,
    isPaceSaid: given.pacing !== undefined,
    pace: pacing === false ? undefined : new SitePaces(pacing, MAX_DELAY_MS),
    addressPolicy,
  };
}

const ONLY_FETCH = {
  onDisallow: 'can respond in place of a site',
  addressPolicy: 'knows where its requests are sent',
  lookup: 'looks up names',
  timeoutMs: 'and robotsInterceptor limit the time of a request; use the `timeout` of the library',
};

/**
 * @param limitsTime Whether the guard takes `timeoutMs`.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function assertThrowing(options: ThrowingGuardOptions, limitsTime = false): void {
  for (const [name, why] of Object.entries(ONLY_FETCH)) {
    if (!Object.hasOwn(Object(options), name) || (limitsTime && name === 'timeoutMs')) continue;
    throw new RobotsInvalidOptionsError(
      `Expected only known options, got \`${name}\`: only guardFetch ${why}`,
    );
  }
}

/** A request of two guards would wait for its own permit. */
export function guardedTwice(what: string): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    `Expected ${what} without a guard, got one that is guarded already; guard it once, with all options`,
  );
}

/**
 * Why a request is made without a check: one of these words, so that accounts of several crawlers can be compared, or any
 * other text. None of them exempts a request by itself.
 *
 * - `user-request`: a person asked for this very page, now.
 * - `user-preview`: a person's message has the link, and a preview of it is shown.
 * - `owner-request`: the owner of the site asked for it.
 * - `owner-consent`: the owner of the site agreed, such as by a contract.
 * - `security`: a search for abuse, which those who commit it would forbid.
 */
export type IgnoreReason =
  | 'user-request'
  | 'user-preview'
  | 'owner-request'
  | 'owner-consent'
  | 'security'
  | (string & {});

/**
 * The member that the guard adds to the options of a request. The guard removes it before the request is sent.
 *
 * @example
 * ```ts
 * const init: RequestInit & RobotsInit = { robots: { ignore: true, because: 'the owner asked for a copy' } };
 * await fetchPolitely('https://example.com/private', init);
 * ```
 */
export interface RobotsInit {
  readonly robots?: {
    /** Whether to make this request, and the redirects it meets, without a check of robots.txt. */
    readonly ignore: boolean;
    /** The reason, which `canfetch:ignored` and the evidence have, and by which an account counts. */
    readonly because: IgnoreReason;
  };
}

const ignoring = fields(
  {
    ignore: predicate('true or false', (value) => typeof value === 'boolean'),
    because: predicate('the reason, as text', (value) => isText(value) && value.trim() !== ''),
  },
  "an object such as { ignore: true, because: '…' }",
);

/**
 * The reason to ignore robots.txt for one request; `undefined` when it is checked.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the member is malformed or gives no reason, so
 * that robots.txt is not ignored by mistake.
 */
export function ignoredBecause(robots: unknown): string | undefined {
  if (robots === undefined) return undefined;
  ignoring(robots, 'robots');
  const { ignore, because }: NonNullable<RobotsInit['robots']> = Object(robots);
  return ignore ? because : undefined;
}
