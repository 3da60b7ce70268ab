import type { LookupFunction } from 'node:net';
import {
  aFunction,
  anObjectWith,
  type Check,
  type Clock,
  expecting,
  isFunction,
  oneOf,
  optionTable,
  RobotsInvalidOptionsError,
  systemClock,
} from '../base/index.ts';
import type { Decision } from '../decision/index.ts';
import type { OtherIdentity } from './identity.ts';
import { ADDRESS_POLICIES, type AddressPolicy } from '../net/address-policy.ts';
import { type Agent, agentTokens } from '../rules/agent-tokens.ts';
import { type Pace, paceOf, type PacingOptions, pacingOptions } from '../pacing/index.ts';

/** A request that went on unasked, because the caller said so. */
export interface IgnoredRequest {
  readonly url: string;
  /** The caller's reason, as given with the request. */
  readonly because: string;
}

/** What every guard can be told. `Answer` is what the guarded client answers with. */
export interface GuardOptions<Answer = unknown> {
  /** Who is asked about. @default the client's own agent */
  readonly agent?: Agent;
  /**
   * `'report'` is a dry run: what would be refused is told to `onRefusal`, and requested all the same.
   * @default 'enforce'
   */
  readonly mode?: 'enforce' | 'report';
  /**
   * What becomes of a request that may not be made. `'throw'`: it rejects with `RobotsDisallowedError` or
   * `RobotsUnreachableError`. `'response'`: it is answered with a 403, or with a 503 and `retry-after` when
   * robots.txt is unreachable, with the reason in `x-robots-reason` and `x-robots-rule`. A function: with what it
   * gives.
   * @default 'throw'
   */
  readonly onDisallow?: 'throw' | 'response' | ((decision: Decision) => Answer | Promise<Answer>);
  /**
   * Whether a request that carries no `User-Agent` is given the one of `agent`, by default the client's: a site should
   * see the name that its robots.txt was asked about (RFC 9309 §2.2.1). What the caller set stays. The defaults of
   * libraries (`node`, `undici`, `got (https://…)`, `axios/1.2.3`) count as none. `false` leaves requests as they are.
   * The guards of Crawlee, Playwright and Puppeteer leave them in any case: those choose a `User-Agent` of their own.
   * @default true
   */
  readonly identify?: boolean;
  /**
   * Is told of a request whose own `User-Agent` names another product token than `agent`, once an origin. What it throws
   * rejects the request. Not of requests by Crawlee, Playwright and Puppeteer.
   */
  readonly onIdentity?: (identity: OtherIdentity) => void;
  /** URLs for which it gives `false` are not crawling: they are requested without being asked about. */
  readonly filter?: (url: URL) => boolean;
  /** Is told of each refusal, in both modes. What it throws rejects the request. */
  readonly onRefusal?: (decision: Decision) => void;
  /** Is told of each URL requested under `{ robots: { ignore: true, because } }`. What it throws rejects it. */
  readonly onIgnored?: (ignored: IgnoredRequest) => void;
  /** What `retry-after` is reckoned from. @default the system's clock */
  readonly clock?: Clock;
  /**
   * Spaces the requests to each origin: as its `Crawl-delay` asks, `minDelayMs` apart at least, and behind the
   * `Retry-After` of its 429 and 503 answers. Redirects are requests, too. One that would be held back for longer
   * than `maxDelayMs` rejects with `RobotsDeferredError` (`ERR_ROBOTS_DEFERRED`, with `retryAt`), whatever
   * `onDisallow` says: it is allowed, only not yet.
   * @default false
   */
  readonly pacing?: boolean | PacingOptions;
  /**
   * Which addresses requests may go to; `guardFetch` alone has it. What it forbids rejects with
   * `RobotsAddressRefusedError` (`ERR_ROBOTS_ADDRESS_REFUSED`) before anything is connected to, whatever `mode`,
   * `filter`, `onDisallow` and `robots: { ignore }` say: those are about robots.txt. Requests for robots.txt go by
   * the `addressPolicy` of the client, which must be as strict (`ERR_ROBOTS_INVALID_OPTIONS`): robots.txt would else be
   * asked for where no page may be.
   *
   * To see addresses, the guard hands each hop a `dispatcher` of its own in `init`, in the place of the global one
   * and of one built into a `Request`. That works with the `fetch` of Node and of undici. With a `dispatcher` in the
   * caller's `init`, or a fetch that does not know dispatchers, the policy holds for what URLs show (literal
   * addresses, `localhost`), and a host name counts as public.
   * @default not checked
   */
  readonly addressPolicy?: AddressPolicy;
  /**
   * Finds the addresses of host names for `addressPolicy`, with the signature of `dns.lookup`.
   * @default DNS by c-ares behind the hosts file, as `RobotsClient` has it
   */
  readonly lookup?: LookupFunction;
}

/** What guards can be told that cannot answer in the place of a site: they refuse by throwing. */
export type ThrowingGuardOptions = Omit<GuardOptions, 'onDisallow' | 'addressPolicy' | 'lookup'>;

/** The options, checked, with defaults. */
export interface GuardSettings<Answer> {
  readonly agent: Agent | undefined;
  readonly enforces: boolean;
  readonly onDisallow: NonNullable<GuardOptions<Answer>['onDisallow']>;
  readonly filter: ((url: URL) => boolean) | undefined;
  readonly identify: boolean;
  readonly onIdentity: ((identity: OtherIdentity) => void) | undefined;
  readonly onRefusal: ((decision: Decision) => void) | undefined;
  readonly onIgnored: ((ignored: IgnoredRequest) => void) | undefined;
  readonly clock: Clock;
  readonly pace: Pace | undefined;
  readonly addressPolicy: AddressPolicy;
}

const guardOptions: Check = optionTable({
  // What is in it is checked by `agentTokens`.
  agent: expecting(
    'a string or a list of strings',
    (value) => typeof value === 'string' || Array.isArray(value),
  ),
  mode: oneOf(['enforce', 'report']),
  onDisallow: expecting(
    "'throw', 'response' or a function",
    (value) => value === 'throw' || value === 'response' || isFunction(value),
  ),
  identify: expecting('true or false', (value) => typeof value === 'boolean'),
  onIdentity: aFunction(),
  filter: aFunction(),
  onRefusal: aFunction(),
  onIgnored: aFunction(),
  clock: anObjectWith('now', 'an object whose `now()` gives epoch milliseconds'),
  pacing: (value, path) => {
    if (typeof value !== 'boolean') pacingOptions(value, path);
  },
  addressPolicy: oneOf(ADDRESS_POLICIES),
  lookup: aFunction('like dns.lookup'),
} satisfies Readonly<Record<keyof GuardOptions, Check>>);

/**
 * Checks the options of a guard and puts the defaults in.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), whose message names the option, what was
 *   expected and what came.
 */
export function readGuardOptions<Answer>(given: GuardOptions<Answer>): GuardSettings<Answer> {
  guardOptions(given, '');
  const { agent, lookup, addressPolicy = 'any' } = given;
  if (lookup !== undefined && addressPolicy === 'any') {
    throw new RobotsInvalidOptionsError(
      'Expected `lookup` with an `addressPolicy` that checks what it gives, got `lookup` alone',
    );
  }
  if (agent !== undefined) agentTokens(agent);
  return {
    agent,
    enforces: given.mode !== 'report',
    onDisallow: given.onDisallow ?? 'throw',
    identify: given.identify ?? true,
    onIdentity: given.onIdentity,
    filter: given.filter,
    onRefusal: given.onRefusal,
    onIgnored: given.onIgnored,
    clock: given.clock ?? systemClock,
    pace: readPacing(given.pacing),
    addressPolicy,
  };
}

const ONLY_FETCH = {
  onDisallow: 'can answer in the place of a site',
  addressPolicy: 'knows where its requests are sent',
  lookup: 'looks up names',
};

/** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) */
export function assertThrowing(options: ThrowingGuardOptions): void {
  for (const [name, why] of Object.entries(ONLY_FETCH)) {
    if (!Object.hasOwn(Object(options), name)) continue;
    throw new RobotsInvalidOptionsError(
      `Expected only known options, got \`${name}\`: only guardFetch ${why}`,
    );
  }
}

/** Nobody waits for longer than this without having said so. */
const MAX_DELAY_MS = 5 * 60 * 1000;

function readPacing(pacing: boolean | PacingOptions | undefined): Pace | undefined {
  if (pacing === undefined || pacing === false) return undefined;
  return paceOf(pacing === true ? {} : pacing, MAX_DELAY_MS);
}
