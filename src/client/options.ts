import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import type { Clock } from '../base/index.ts';
import type { FetchFunction } from '../fetch/index.ts';
import type { Transport } from '../fetch/transport.ts';
import type { Profile, ProfileName } from '../lifecycle/index.ts';
import type { AddressPolicy } from '../net/address-policy.ts';
import type { Agent } from '../rules/agent-tokens.ts';
import type { RobotsStore, StoreEvent } from '../store/index.ts';

/** What the caller lays down for one origin. */
export type OriginOverride =
  /** A robots.txt to be used instead of the one that is served, which is then not fetched. */
  | { readonly text: string; readonly because?: string }
  /** Every URL of the origin is allowed, or disallowed; nothing is fetched. */
  | { readonly verdict: 'allow' | 'disallow'; readonly because: string }
  /** Another profile for this origin alone. */
  | { readonly profile: ProfileName | Profile };

export interface RobotsClientOptions {
  /**
   * Who asks. The first string is also the `User-Agent` header of robots.txt requests, so say who you are and
   * where to read about it: `ExampleBot/1.0 (+https://example.com/bot)`.
   * @default 'canfetch/<version>'
   */
  readonly agent?: Agent;
  /** What answers and failures mean over time. @default 'rfc9309' */
  readonly profile?: ProfileName | Profile;
  /** For one whole attempt: connect, headers, body, all redirects. Milliseconds. @default 10_000 */
  readonly deadlineMs?: number;
  /** Decoded octets that are read of a file; the rest is ignored. At least 512,000. @default 512_000 */
  readonly maxBodyBytes?: number;
  /** Origins asked at the same time at most, those looked for in the store included. @default 32 */
  readonly concurrency?: number;
  /**
   * Which addresses robots.txt may be asked of, on every hop. What it forbids makes the origin unreachable
   * (`robots.error` is `ERR_ROBOTS_ADDRESS_REFUSED`), and nothing is connected to.
   *
   * With `dispatcher` or `transport` the client does not see which address is connected to. The policy then holds for
   * what URLs show (literal addresses, `localhost`), and a host name counts as public: a site of your own network
   * that redirects to a literal private address needs `'any'`.
   *
   * The same holds when somebody has set a global dispatcher, such as a proxy of the environment (see `dispatcher`).
   * Under `'public-only'` it is then asked for literal public addresses alone, and every host name is unreachable
   * (`ERR_ROBOTS_ADDRESS_UNKNOWN`): hand it over as `dispatcher` if you know that it leads to public addresses only.
   * @default 'no-public-to-private'
   */
  readonly addressPolicy?: AddressPolicy;
  /**
   * Finds the addresses of host names, with the signature of `dns.lookup`; `addressPolicy` holds for what it gives.
   * Not with `dispatcher` or `transport`, which look up names themselves.
   * @default DNS by c-ares behind the hosts file, for any number of names at a time
   */
  readonly lookup?: LookupFunction;
  /**
   * undici dispatcher for robots.txt requests (a proxy, a shared pool). `close()` leaves it open. See
   * `addressPolicy` for what can then be checked.
   *
   * Where a proxy refuses to pass a request on, the origin is unreachable, `robots.error` is `ERR_ROBOTS_PROXY`, and
   * `robots.status` is the status of the proxy. That is so for a CONNECT that fails, and over plain HTTP for 407 and
   * for answers that the proxy marks as its own: `Proxy-Status` with `error` (RFC 9209), `X-Squid-Error`. Other answers
   * of a proxy to plain HTTP look like those of the site.
   * @default the process's global dispatcher at the time of the request, if somebody has set one: `setGlobalDispatcher`
   *   of any copy of undici, or Node for `NODE_USE_ENV_PROXY` and `--use-env-proxy`. Else agents of the client's own.
   */
  readonly dispatcher?: Dispatcher;
  /** Instead of undici: any WHATWG fetch. See `addressPolicy` for what can then be checked. */
  readonly transport?: { readonly fetch: FetchFunction };
  /**
   * `ftpTransport()` of `canfetch/ftp`, for `ftp:` URLs. Without it nothing of such origins is allowed.
   */
  readonly ftp?: Transport;
  /** Where the time comes from. @default the system's */
  readonly clock?: Clock;
  /** Numbers in [0, 1) for jitter. @default Math.random */
  readonly random?: () => number;
  /** Bounds of the memory. @default { maxOrigins: 50_000, maxBytes: 128 MiB } */
  readonly cache?: { readonly maxOrigins?: number; readonly maxBytes?: number };
  /**
   * Where records outlive the process and are shared by a fleet: `canfetch/redis`, `canfetch/lmdb`, or one of your
   * own. What memory does not know is looked for there before the origin is asked; what is learnt is written there
   * behind the questions. A store that fails or hangs costs a miss and an event, nothing else. Records are shared by
   * clients of the same product token and address policy. `close()` leaves it open.
   */
  readonly store?: RobotsStore;
  /** For each call of the store, in milliseconds; what takes longer is gone on without. @default 150 */
  readonly storeDeadlineMs?: number;
  /** Hears of trouble with the store, and of its end. Nothing needs to be done about it. */
  readonly onStoreEvent?: (event: StoreEvent) => void;
  /**
   * Header fields to be added to the robots.txt request of an origin. They are not sent to where it redirects. When it
   * throws, or gives what no header field can carry, the question rejects with `ERR_ROBOTS_INVALID_OPTIONS`.
   *
   * @default none
   * @example
   * ```ts
   * const robots = new RobotsClient({
   *   headersForRobots: (origin) =>
   *     origin === 'https://staging.example.com' ? { authorization: `Bearer ${token}` } : undefined,
   * });
   * ```
   */
  readonly headersForRobots?: (origin: string) => Readonly<Record<string, string>> | undefined;
  /**
   * A robots.txt, a verdict or a profile of your own for single origins. The key is an origin: a path in it is refused
   * (`ERR_ROBOTS_INVALID_OPTIONS`), and so is a second key for the same origin.
   *
   * @default none
   * @example
   * ```ts
   * const robots = new RobotsClient({
   *   overrides: {
   *     'https://example.com': { verdict: 'allow', because: 'the owner asked us to crawl it' },
   *     'https://example.org': { text: 'User-agent: *\nDisallow: /private' },
   *     'https://example.net': { profile: 'google' },
   *   },
   * });
   * ```
   */
  readonly overrides?: Readonly<Record<string, OriginOverride>>;
}
