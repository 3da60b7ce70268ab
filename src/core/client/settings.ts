import {
  DEFAULT_CONCURRENCY,
  DEFAULT_DEADLINE_MS,
  DEFAULT_MAX_BODY_BYTES,
  quote,
  DEFAULT_AGENT,
  RobotsInvalidOptionsError,
  systemClock,
  warnOnce,
} from '../base/index.ts';
import { platform } from '#platform';
import { type OriginPolicy, type OverriddenOrigin, overriddenOrigin } from '../decision/index.ts';
import type { FetchFunction } from '../fetch/index.ts';
import type { Transport } from '../fetch/transport.ts';
import { type Profile, type ProfileName, profiles } from '../lifecycle/index.ts';
import { DEFAULT_ADDRESS_POLICY } from '../net/address-policy.ts';
import { agentTokens, type Tokens } from '../decision/agent-tokens.ts';
import { originOf } from '../url/index.ts';
import type { OriginOverride, RobotsClientOptions } from './options.ts';
import { clientOptions, headerFields } from './option-schema.ts';

type Defaulted =
  | 'agent'
  | 'addressPolicy'
  | 'clock'
  | 'concurrency'
  | 'deadlineMs'
  | 'maxBodyBytes'
  | 'onStoreEvent'
  | 'random'
  | 'storeDeadlineMs';
type MayLack = 'dispatcher' | 'evidence' | 'ftp' | 'headersForRobots' | 'lookup' | 'store';

/** The options with all defaults. */
export type Settings = Required<Pick<RobotsClientOptions, Defaulted>> & {
  readonly [Name in MayLack]: RobotsClientOptions[Name] | undefined;
} & {
  readonly tokens: Tokens;
  readonly userAgent: string;
  readonly profile: Profile;
  /** `undefined`: requests go through undici. */
  readonly transport: FetchFunction | Transport | undefined;
  readonly maxOrigins: number;
  readonly maxBytes: number;
  readonly overrides: Readonly<Record<string, OriginOverride>>;
};

const NO_AGENT =
  `A client was made without \`agent\`: sites see ${DEFAULT_AGENT}, and the rules for canfetch hold. ` +
  "Say who crawls: agent: 'ExampleBot/1.0 (+https://example.com/bot)'";

/**
 * Checks the options and adds the defaults.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`). The message names the option, what was expected
 * and what came.
 */
export function readOptions(options: RobotsClientOptions): Settings {
  clientOptions(options, '');
  if (options.dispatcher !== undefined && options.transport !== undefined) {
    throw new RobotsInvalidOptionsError('Expected either `dispatcher` or `transport`, got both');
  }
  const other = typeof options.dispatcher === 'object' ? 'dispatcher' : 'transport';
  if (options.lookup !== undefined && options[other] !== undefined) {
    throw new RobotsInvalidOptionsError(
      `Expected either \`lookup\` or \`${other}\`, which looks up names by itself, got both`,
    );
  }
  if (options.transport === undefined && platform.undici === undefined) assertFetchSuffices(options);
  const maxBodyBytes = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
  const maxBytes = options.cache?.maxBytes ?? 128 * 1_048_576;
  if (maxBytes < 2 * maxBodyBytes) {
    throw new RobotsInvalidOptionsError(
      `Expected \`cache.maxBytes\` to be at least twice \`maxBodyBytes\` (${maxBodyBytes}), got "${maxBytes}" (number)`,
    );
  }
  // RFC 9309 §2.2.1: "The product token SHOULD be a substring of the identification string that the crawler sends to
  // the service." Without one, sites can neither name this crawler nor reach its operator.
  if (options.agent === undefined) warnOnce(NO_AGENT, 'CANFETCH_NO_AGENT');
  const agent = options.agent ?? DEFAULT_AGENT;
  return {
    tokens: agentTokens(agent),
    agent: typeof agent === 'string' ? agent : [...agent],
    userAgent: typeof agent === 'string' ? agent : agent[0]!,
    profile: readProfile(options.profile ?? 'rfc9309'),
    deadlineMs: options.deadlineMs ?? DEFAULT_DEADLINE_MS,
    maxBodyBytes,
    concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
    addressPolicy: options.addressPolicy ?? DEFAULT_ADDRESS_POLICY,
    lookup: options.lookup,
    dispatcher: options.dispatcher,
    transport: transportOf(options.transport),
    ftp: options.ftp,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    maxOrigins: options.cache?.maxOrigins ?? 100_000,
    maxBytes,
    store: options.store,
    storeDeadlineMs: options.storeDeadlineMs ?? 150,
    evidence: options.evidence,
    onStoreEvent: options.onStoreEvent ?? ((): void => {}),
    headersForRobots: options.headersForRobots,
    overrides: options.overrides ?? {},
  };
}

/**
 * Refuses what the `fetch` of the platform cannot do, rather than to ignore it.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
function assertFetchSuffices({ addressPolicy, dispatcher, lookup }: RobotsClientOptions): void {
  if (platform.transport === undefined) {
    throw new RobotsInvalidOptionsError(
      'Expected `transport: { fetch }`, because this platform has no global fetch, got no transport',
    );
  }
  if (addressPolicy === 'public-only') {
    throw new RobotsInvalidOptionsError(
      'Expected `addressPolicy` to be "no-public-to-private" or "any", got "public-only": the fetch of this platform does ' +
        'not show which addresses it connects to. Pass `transport: { fetch }` with a fetch that connects to public addresses only',
    );
  }
  const name = dispatcher !== undefined ? 'dispatcher' : lookup !== undefined ? 'lookup' : undefined;
  if (name === undefined) return;
  throw new RobotsInvalidOptionsError(
    `Expected no \`${name}\`, which needs undici, and undici does not work whole on this platform. Pass \`transport: { fetch }\` instead`,
  );
}

/** Looked up at each request: tests and instrumentation replace it. */
const globalFetch: FetchFunction = (url, init) => fetch(url, init);

function transportOf(transport: RobotsClientOptions['transport']): Settings['transport'] {
  if (transport === undefined) return platform.undici === undefined ? globalFetch : undefined;
  if (transport === 'fetch') return globalFetch;
  return 'fetch' in transport ? transport.fetch : transport;
}

/** See `addressChecks` of `OriginPolicy`. */
export function addressChecksOf({ transport, dispatcher }: Settings): OriginPolicy['addressChecks'] {
  const isOwn = transport === undefined && dispatcher === undefined;
  const checks = isOwn && platform.undici?.checksConnections();
  return checks ? 'connections' : 'literals';
}

/**
 * The preset of that name, or a copy of the object, so that later changes to it have no effect. A status map without
 * an entry for 2xx extends that of `rfc9309`.
 */
export function readProfile(profile: ProfileName | Profile): Profile {
  if (typeof profile === 'string') return profiles[profile];
  const copy = structuredClone(profile);
  return '2xx' in copy.status ? copy : { ...copy, status: { ...profiles.rfc9309.status, ...copy.status } };
}

/** An override is for a whole origin, so a key with a path is refused. */
function overrideOrigin(key: string): string {
  try {
    const { origin, href } = new URL(key);
    if (originOf(key) === origin && href === `${origin}/`) return origin;
  } catch {
    // Reported below.
  }
  throw new RobotsInvalidOptionsError(
    `Expected a key of \`overrides\` to be an origin such as "https://example.com", got ${quote(key)}`,
  );
}

/** The settings that may differ by origin. */
export class OriginSettings {
  /** The caller's texts and verdicts, by origin. */
  readonly overrides: ReadonlyMap<string, OverriddenOrigin>;
  /** Profiles of single origins. */
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
    const overrides = new Map<string, OverriddenOrigin>();
    const profiles = new Map<string, Profile>();
    for (const [key, override] of Object.entries(settings.overrides)) {
      const origin = overrideOrigin(key);
      if (overrides.has(origin) || profiles.has(origin)) {
        throw new RobotsInvalidOptionsError(
          `Expected one override per origin, got several for ${quote(origin)}`,
        );
      }
      if ('profile' in override) profiles.set(origin, readProfile(override.profile));
      else overrides.set(origin, overriddenOrigin(origin, settings.profile, override));
    }
    this.overrides = overrides;
    this.profiles = profiles;
  }

  /** Bound, so that it can be passed on by itself. */
  readonly profileOf = (origin: string): Profile => this.profiles.get(origin) ?? this.#settings.profile;

  /** Whether robots.txt can be fetched: `ftp:` needs a transport. */
  canAsk(origin: string): boolean {
    return this.#settings.ftp !== undefined || !isFtp(origin);
  }

  /** The transport for an origin of `ftp:`; `undefined` for others. */
  ftpFor(origin: string): Transport | undefined {
    return isFtp(origin) ? this.#settings.ftp : undefined;
  }

  /**
   * Calls `headersForRobots` for an origin.
   *
   * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when it throws or returns invalid header fields.
   */
  headersFor(origin: string): Readonly<Record<string, string>> | undefined {
    const { headersForRobots } = this.#settings;
    if (headersForRobots === undefined) return undefined;
    try {
      const headers = headersForRobots(origin);
      if (headers !== undefined) headerFields(headers, `headersForRobots(${quote(origin)})`);
      return headers;
    } catch (cause) {
      if (cause instanceof RobotsInvalidOptionsError) throw cause;
      throw new RobotsInvalidOptionsError(`\`headersForRobots\` failed for ${quote(origin)}`, { cause });
    }
  }

  /**
   * Whether `origin` would be asked, and its response read, as in an attempt for `asked` that was redirected there. A
   * redirect carries no fields of `headersForRobots`, so the site may have responded with a login page.
   */
  isAskedAlike(origin: string, asked: string): boolean {
    if (this.overrides.has(origin) || this.profileOf(origin) !== this.profileOf(asked)) return false;
    try {
      return Object.keys(this.headersFor(origin) ?? {}).length === 0;
    } catch {
      // An attempt for `origin` would fail with it. That for `asked` has succeeded.
      return false;
    }
  }
}

function isFtp(origin: string): boolean {
  return origin.startsWith('ftp:');
}
