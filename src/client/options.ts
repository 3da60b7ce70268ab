import {
  type Clock,
  DEFAULT_CONCURRENCY,
  DEFAULT_DEADLINE_MS,
  DEFAULT_MAX_BODY_BYTES,
  quote,
  RobotsInvalidOptionsError,
  systemClock,
  VERSION,
} from '../base/index.ts';
import type { RobotsStore, StoreEvent } from '../store/index.ts';
import type { FetchFunction } from '../fetch/index.ts';
import type { Transport } from '../fetch/transport.ts';
import { type Profile, type ProfileName, profiles } from '../lifecycle/index.ts';
import { type AddressPolicy, DEFAULT_ADDRESS_POLICY } from '../net/address-policy.ts';
import { type Agent, agentTokens, type Tokens } from '../rules/agent-tokens.ts';
import { originOf } from '../url/index.ts';
import { headerFields, optionsSchema, explain, show } from './option-schema.ts';
import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';

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
  /** Header fields to be added to the robots.txt request of an origin; not sent to where it redirects. */
  readonly headersForRobots?: (origin: string) => Readonly<Record<string, string>> | undefined;
  /** By origin (`https://example.com`). */
  readonly overrides?: Readonly<Record<string, OriginOverride>>;
}

/** The options with every default in place. */
export interface Settings {
  readonly tokens: Tokens;
  readonly userAgent: string;
  readonly profile: Profile;
  readonly deadlineMs: number;
  readonly maxBodyBytes: number;
  readonly concurrency: number;
  readonly addressPolicy: AddressPolicy;
  readonly lookup: LookupFunction | undefined;
  readonly dispatcher: Dispatcher | undefined;
  readonly fetch: FetchFunction | undefined;
  readonly ftp: Transport | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly maxOrigins: number;
  readonly maxBytes: number;
  readonly store: RobotsStore | undefined;
  readonly storeDeadlineMs: number;
  readonly onStoreEvent: (event: StoreEvent) => void;
  readonly headersForRobots: ((origin: string) => Readonly<Record<string, string>> | undefined) | undefined;
  readonly overrides: ReadonlyMap<string, OriginOverride>;
}

/**
 * Checks the options and puts the defaults in.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), whose message names the option, what was
 *   expected and what came.
 */
export function readOptions(options: RobotsClientOptions): Settings {
  const result = optionsSchema.safeParse(options);
  if (!result.success) throw new RobotsInvalidOptionsError(explain(result.error, options));
  if (options.dispatcher !== undefined && options.transport !== undefined) {
    throw new RobotsInvalidOptionsError('Expected either `dispatcher` or `transport`, got both');
  }
  const other = options.dispatcher === undefined ? 'transport' : 'dispatcher';
  if (options.lookup !== undefined && options[other] !== undefined) {
    throw new RobotsInvalidOptionsError(
      `Expected either \`lookup\` or \`${other}\`, which looks up names by itself, got both`,
    );
  }
  const maxBodyBytes = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
  const maxBytes = options.cache?.maxBytes ?? 128 * 1_048_576;
  if (maxBytes < 2 * maxBodyBytes) {
    throw new RobotsInvalidOptionsError(
      `Expected \`cache.maxBytes\` to be at least twice \`maxBodyBytes\` (${maxBodyBytes}), got "${maxBytes}" (number)`,
    );
  }
  const agent = options.agent ?? `canfetch/${VERSION}`;
  return {
    tokens: agentTokens(agent),
    userAgent: typeof agent === 'string' ? agent : agent[0]!,
    profile: readProfile(options.profile ?? 'rfc9309'),
    deadlineMs: options.deadlineMs ?? DEFAULT_DEADLINE_MS,
    maxBodyBytes,
    concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
    addressPolicy: options.addressPolicy ?? DEFAULT_ADDRESS_POLICY,
    lookup: options.lookup,
    dispatcher: options.dispatcher,
    fetch: options.transport?.fetch,
    ftp: options.ftp,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    maxOrigins: options.cache?.maxOrigins ?? 50_000,
    maxBytes,
    store: options.store,
    storeDeadlineMs: options.storeDeadlineMs ?? 150,
    onStoreEvent: options.onStoreEvent ?? ((): void => {}),
    headersForRobots: options.headersForRobots,
    overrides: readOverrides(options.overrides ?? {}),
  };
}

/**
 * The profile of that name, or a copy of the object, so that what was checked is what holds. A status map that does
 * not say what 2xx means is taken as changes to the one of `rfc9309`.
 */
export function readProfile(profile: ProfileName | Profile): Profile {
  if (typeof profile === 'string') return profiles[profile];
  const copy = structuredClone(profile);
  return '2xx' in copy.status ? copy : { ...copy, status: { ...profiles.rfc9309.status, ...copy.status } };
}

/**
 * What `headersForRobots` gives for an origin.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when it throws or gives no header fields.
 */
export function headersFor(
  origin: string,
  { headersForRobots }: Settings,
): Readonly<Record<string, string>> | undefined {
  if (headersForRobots === undefined) return undefined;
  let headers: unknown;
  try {
    headers = headersForRobots(origin);
  } catch (cause) {
    throw new RobotsInvalidOptionsError(`\`headersForRobots\` failed for ${quote(origin)}`, { cause });
  }
  const result = headerFields.optional().safeParse(headers);
  if (result.success) return result.data;
  throw new RobotsInvalidOptionsError(
    `Expected \`headersForRobots\` to give header fields as strings, got ${show(Object(headers))} for ${quote(origin)}`,
  );
}

function readOverrides(overrides: Readonly<Record<string, OriginOverride>>): Map<string, OriginOverride> {
  const byOrigin = new Map<string, OriginOverride>();
  for (const [key, override] of Object.entries(overrides)) {
    const origin = overrideOrigin(key);
    if (byOrigin.has(origin)) {
      throw new RobotsInvalidOptionsError(
        `Expected one override an origin, got several for ${quote(origin)}`,
      );
    }
    byOrigin.set(origin, override);
  }
  return byOrigin;
}

/** An override is for a whole origin: a key that names less would be given more than it asks for. */
function overrideOrigin(key: string): string {
  try {
    const { origin, href } = new URL(key);
    if (originOf(key) === origin && href === `${origin}/`) return origin;
  } catch {
    // Told below.
  }
  throw new RobotsInvalidOptionsError(
    `Expected a key of \`overrides\` to be an origin such as "https://example.com", got ${quote(key)}`,
  );
}
