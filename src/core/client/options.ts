import type { LookupFunction } from 'node:net';
import type { Clock, HeaderFields } from '../base/index.ts';
import type { EvidenceEntry } from './evidence/entry.ts';
import type { FetchFunction } from '../fetch/index.ts';
import type { DispatcherLike, Transport } from '../fetch/transport.ts';
import type { Profile, ProfileName } from '../lifecycle/index.ts';
import type { AddressPolicy } from '../net/address-policy.ts';
import type { Agent } from '../decision/agent-tokens.ts';
import type { RobotsStore, StoreEvent } from '../store/store.ts';
import type { Purpose } from '../decision/index.ts';
import type { BookingOptions, PacingTotals } from '../pacing/index.ts';

/** The caller's override for one origin. */
export type OriginOverride = {
  /** Epoch ms from which the origin's own rules hold again, such as the end of a contract. @default without end */
  readonly until?: number;
} & /** Use this robots.txt. The origin's own is not fetched. */ (
  | { readonly text: string; readonly because?: string }
  /** Allow or disallow every URL of the origin. Nothing is fetched. */
  | { readonly verdict: 'allow' | 'disallow'; readonly because: string }
  /** Use another profile for this origin. */
  | { readonly profile: ProfileName | Profile }
);

export interface RobotsClientOptions {
  /**
   * Who asks. The first string is also the `User-Agent` header of robots.txt requests, so say who you are and
   * where to read about it: `ExampleBot/1.0 (+https://example.com/bot)`. The process is warned once of a string that names
   * only browsers, or has a space in its name (`CANFETCH_AGENT_UNNAMED`).
   * @default 'canfetch/<version>', with a warning of the process, once (`CANFETCH_NO_AGENT`)
   */
  readonly agent?: Agent;
  /**
   * The meaning of responses and failures over time: the name of a preset, or a profile of your own. @default 'rfc9309'
   * @example
   * ```ts
   * const robots = new RobotsClient({ profile: { ...profiles.rfc9309, name: 'patient', maxRedirects: 10 } });
   * ```
   */
  readonly profile?: ProfileName | Profile;
  /**
   * Milliseconds for one whole attempt: connecting, headers, body, all redirects. After that the origin is
   * unreachable (`robots.error` is `ERR_ROBOTS_DEADLINE`). @default 10_000
   */
  readonly deadlineMs?: number;
  /**
   * The maximum number of decoded bytes read of a file. The rest is ignored (`robots.truncated`). Less than 512,000 is
   * `ERR_ROBOTS_INVALID_OPTIONS`. @default 512_000
   */
  readonly maxBodyBytes?: number;
  /** The maximum number of origins fetched at the same time, store look-ups included. @default 32 */
  readonly concurrency?: number;
  /**
   * The addresses that requests for robots.txt may go to, those of redirects included. A refused address makes the origin
   * unreachable (`robots.error` is `ERR_ROBOTS_ADDRESS_REFUSED`) before a connection is opened.
   *
   * Where the platform's `fetch` is the transport (Bun, Workers, browsers), `'public-only'` is refused
   * (`ERR_ROBOTS_INVALID_OPTIONS`) unless `transport` is given, because the addresses of connections are not shown.
   *
   * With `dispatcher` or `transport` the client does not see the address of a connection. The policy then holds for
   * addresses in URLs (literals, `localhost`), and a host name counts as public: a site of your own network that
   * redirects to a literal private address needs `'any'`.
   *
   * The same holds when a global dispatcher is set, such as a proxy of the environment (see `dispatcher`).
   * Under `'public-only'` it is then used for literal public addresses only, and every host name is unreachable
   * (`ERR_ROBOTS_ADDRESS_UNKNOWN`). If it connects to public addresses only, pass it as `dispatcher`.
   * @default 'no-public-to-private'
   */
  readonly addressPolicy?: AddressPolicy;
  /**
   * Resolves host names, with the signature of `dns.lookup`. `addressPolicy` applies to its results. Not together
   * with a `dispatcher` or `transport`, which resolve names themselves.
   * @default `dns.lookup`, as for the pages
   */
  readonly lookup?: LookupFunction;
  /**
   * undici dispatcher for robots.txt requests (a proxy, a shared pool, a `MockAgent`), on Node and Deno only. `close()`
   * leaves it open. See `addressPolicy` for what can be checked with it.
   *
   * A function chooses it for each URL, redirects included. Where it returns `undefined`, the client connects by itself
   * and checks the address. Under `'public-only'` the dispatchers that it returns are used for literal public addresses
   * only. If it throws, or returns anything else, the question rejects with `ERR_ROBOTS_INVALID_OPTIONS`.
   *
   * When a proxy refuses to forward the request, the origin is unreachable, `robots.error` is `ERR_ROBOTS_PROXY`, and
   * `robots.status` is the status of the proxy. This covers failed CONNECTs, and over plain HTTP 407 and responses that
   * the proxy marks as its own: `Proxy-Status` with `error` (RFC 9209), `X-Squid-Error`. Other responses of a proxy
   * over plain HTTP look like those of the site.
   * @default the process's global dispatcher at the time of the request, if one is set:
   * `setGlobalDispatcher` of any copy of undici, or Node for `NODE_USE_ENV_PROXY` and `--use-env-proxy`. Else agents
   * of the client's own.
   * @example
   * ```ts
   * const proxy = new ProxyAgent('http://proxy.example.com:3128');
   * const robots = new RobotsClient({
   *   dispatcher: (url) => (url.hostname.endsWith('.example') ? proxy : undefined),
   * });
   * ```
   */
  readonly dispatcher?: DispatcherLike | ((url: URL) => DispatcherLike | undefined);
  /**
   * What sends robots.txt instead of undici, which is then not loaded: give what sends your pages, so that its proxy, TLS
   * settings and mocks hold for both. `gotTransport` of `canfetch/got` and `axiosTransport` of `canfetch/axios` take an
   * instance; `{ fetch }` any WHATWG `fetch`. `'fetch'` is the global one, looked up at each request, so that a replaced
   * one (nock, msw, a stub) is used. See `addressPolicy` for what can be checked with each.
   *
   * A `fetch` does not tell whether a coded body was cut, so no `Content-Encoding` is asked for, and a file that comes
   * with one is unreachable (`ERR_ROBOTS_CONTENT_CODING`); in browsers, which ask by themselves, it is read.
   * @default undici on Node and Deno; the global `fetch` on Bun, in Workers and in browsers
   * @example
   * ```ts
   * const robots = new RobotsClient({ transport: 'fetch' });
   * ```
   */
  readonly transport?: 'fetch' | { readonly fetch: FetchFunction } | Transport;
  /**
   * `ftpTransport()` of `canfetch/ftp`, for `ftp:` URLs. Without it every `ftp:` URL is disallowed (`unreachable`).
   * @default none
   */
  readonly ftp?: Transport;
  /** The source of the time, in epoch milliseconds. @default the system clock */
  readonly clock?: Clock;
  /** Numbers in [0, 1) for jitter. @default Math.random */
  readonly random?: () => number;
  /**
   * Bounds of the memory cache: origins, and estimated bytes, whichever is reached first. The least recently used
   * origins are evicted, but none for which page requests wait. An origin takes 0.5 KB without a file, 6 KB with an
   * average one. When an evicted origin is fetched again within its lifetime, the process is warned once
   * (`CANFETCH_CACHE_FULL`).
   * @default { maxOrigins: 100_000, maxBytes: 128 MiB }
   */
  readonly cache?: { readonly maxOrigins?: number; readonly maxBytes?: number };
  /**
   * A store for records that outlive the process or are shared by a fleet: `canfetch/redis`, `canfetch/sqlite`, or one
   * of your own. It is read when memory has no record, and written in the background. A store that fails or hangs
   * costs a miss and an event, nothing else. Clients share records if product token and address policy are equal.
   * `close()` leaves the store open. @default none
   */
  readonly store?: RobotsStore;
  /**
   * Milliseconds for each store call that a question waits for. After that the client continues without the result.
   * Slots of paced requests, writes in the background, and `close()` as a whole, may take ten times as long, up to 10 s.
   * @default 150
   */
  readonly storeDeadlineMs?: number;
  /**
   * Called on trouble with the store, and on its end. No reaction is needed. If it throws or rejects, the process is
   * warned once (`CANFETCH_LISTENER_FAILED`). @default none
   */
  readonly onStoreEvent?: (event: StoreEvent) => void;
  /**
   * Gets everything that decides, and every decision, in order: what each attempt brought, with its bytes, and how
   * each question was decided. `evidenceFile` of `canfetch/evidence` writes it to a file, and `replay` decides it
   * again. It is not awaited; what it throws is a warning. @default nothing is recorded
   */
  readonly evidence?: (entry: EvidenceEntry) => void;
  /**
   * Header fields to be added to the robots.txt request of an origin. Asked for each request: after a redirect it gets the
   * origin that the redirect leads to, and fields of one origin are sent to no other. When it throws, or gives what no
   * header field can carry, the question rejects with `ERR_ROBOTS_INVALID_OPTIONS`.
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
   * A robots.txt, a verdict or a profile of your own for single origins, each with an end if it has `until`. The key is an
   * origin: a path in it is refused (`ERR_ROBOTS_INVALID_OPTIONS`), and so is a second key for the same origin.
   *
   * @default none
   * @example
   * ```ts
   * const robots = new RobotsClient({
   *   overrides: {
   *     'https://example.com': { verdict: 'allow', because: 'contract of 2026', until: Date.UTC(2027, 0, 1) },
   *     'https://example.org': { text: 'User-agent: *\nDisallow: /private' },
   *     'https://example.net': { profile: 'google' },
   *   },
   * });
   * ```
   */
  readonly overrides?: Readonly<Record<string, OriginOverride>>;
}

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
  /** The `Retry-After` field of a page response, as received: seconds or an HTTP-date. Pauses the origin. */
  readonly retryAfter?: string | number;
  /** The header fields of the response, of which `Retry-After` is read. */
  readonly headers?: HeaderFields;
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
