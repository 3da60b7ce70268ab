import {
  abortSignal,
  allOf,
  type Check,
  DEFAULT_AGENT,
  DEFAULT_CONCURRENCY,
  DEFAULT_DEADLINE_MS,
  DEFAULT_STORE_DEADLINE_MS,
  DEFAULT_MAX_BODY_BYTES,
  fields,
  func,
  hasMethod,
  ignore,
  isFunction,
  isText,
  listOf,
  oneOf,
  type OptionRows,
  optionTable,
  predicate,
  RobotsInvalidOptionsError,
  systemClock,
  textMatching,
  warnOnce,
  wholeNumber,
  withDefaults,
  quote,
} from '../base/index.ts';
import { platform } from '#platform';
import { type OriginPolicy, profileOrName, PURPOSES } from '../decision/index.ts';
import type { FetchFunction } from '../fetch/index.ts';
import type { Transport } from '../fetch/transport.ts';
import type { Profile } from '../lifecycle/index.ts';
import { ADDRESS_POLICIES, DEFAULT_ADDRESS_POLICY } from '../net/address-policy.ts';
import { agentTokens, type Tokens, type Agent } from '../decision/agent-tokens.ts';
import { productToken } from '../rules/index.ts';
import type { PolicyOptions, RobotsClientOptions } from './options.ts';
import { FIELD_VALUE, overridesCheck, readProfile } from './origin-settings.ts';

/** The options of a client: what each must be, its default, and which of them exclude each other. */

const agentString: Check = allOf(
  predicate('a product token or User-Agent string', isText),
  textMatching('a string without CR or LF', /^[^\r\n]*$/),
  textMatching('a string of characters that a header field can carry', FIELD_VALUE),
  predicate(
    'a string that holds a product token, such as "ExampleBot/1.0 (+https://example.com/bot)"',
    (value) => isText(value) && productToken(value) !== undefined,
  ),
);
const agentList = listOf(agentString, 'at least one agent', 1);
const agent: Check = (value, path) => (Array.isArray(value) ? agentList : agentString)(value, path);

export const checkPurpose: Check = oneOf(PURPOSES);

/** An agent to ask for: `*` is any that no group names. */
const askedString: Check = (value, path) => (value === '*' ? undefined : agentString(value, path));
const askedList = listOf(askedString, 'at least one agent', 1);
const askedAgent: Check = (value, path) => (Array.isArray(value) ? askedList : askedString)(value, path);

/** The second argument of `policy`. */
export const policyOptions: Check = optionTable<keyof PolicyOptions>(
  { agent: askedAgent, signal: abortSignal },
  'an object, such as { agent, signal }',
);

/** Optional methods of a store must be functions if present. */
function isStore(value: unknown): boolean {
  const method = (name: string): unknown => Reflect.get(Object(value), name);
  return (
    ['get', 'set', 'delete'].every((name) => isFunction(method(name))) &&
    ['lease', 'reserve', 'pause'].every((name) => method(name) === undefined || isFunction(method(name)))
  );
}

const transportCheck: Check = (value, path) => {
  // An instance of axios, which has a `request`, too, is not meant to be one.
  if (value !== 'fetch' && !isText(Reflect.get(Object(value), 'acceptEncoding')))
    fields(
      { fetch: func('like fetch') },
      "'fetch', an object with a `fetch`, or what `gotTransport` or `axiosTransport` returns",
    )(value, path);
};

type Given = Required<RobotsClientOptions>;

type Name = keyof Given;

/** These may be absent. */
type WithoutDefault =
  | 'dispatcher'
  | 'evidence'
  | 'ftp'
  | 'headersForRobots'
  | 'lookup'
  | 'store'
  | 'transport';

/** The options with all defaults. */
type WithDefaults = {
  readonly [Key in Name]: Key extends WithoutDefault ? Given[Key] | undefined : Given[Key];
};

const OPTIONS: OptionRows<WithDefaults> = {
  agent: { check: agent, default: DEFAULT_AGENT },
  profile: { check: profileOrName, default: 'rfc9309' },
  deadlineMs: {
    check: wholeNumber(1, 2 ** 31 - 1, 'a whole number of milliseconds, at least 1'),
    default: DEFAULT_DEADLINE_MS,
  },
  maxBodyBytes: {
    check: wholeNumber(
      DEFAULT_MAX_BODY_BYTES,
      2 ** 27,
      `a whole number of bytes, at least ${DEFAULT_MAX_BODY_BYTES} (RFC 9309 §2.5: 500 KiB)`,
    ),
    default: DEFAULT_MAX_BODY_BYTES,
  },
  concurrency: { check: wholeNumber(1, 100_000, 'a whole number, at least 1'), default: DEFAULT_CONCURRENCY },
  addressPolicy: { check: oneOf(ADDRESS_POLICIES), default: DEFAULT_ADDRESS_POLICY },
  lookup: { check: func('like dns.lookup') },
  dispatcher: {
    check: predicate(
      'an undici Dispatcher, or a function from a URL to one',
      (value) => isFunction(value) || isFunction(Reflect.get(Object(value), 'dispatch')),
    ),
  },
  transport: { check: transportCheck },
  ftp: {
    check: hasMethod('request', 'an FTP transport, made by `ftpTransport()` of canfetch/ftp'),
  },
  clock: {
    check: hasMethod('now', 'an object whose `now()` returns epoch milliseconds'),
    default: systemClock,
  },
  random: { check: func('that returns numbers in [0, 1)'), default: (): number => Math.random() },
  cache: {
    check: optionTable({
      maxOrigins: wholeNumber(1, 2 ** 31 - 1, 'a whole number, at least 1'),
      maxBytes: wholeNumber(1_048_576, Number.MAX_SAFE_INTEGER, 'a whole number of bytes, at least 1 MiB'),
    }),
    default: {},
  },
  store: {
    check: predicate(
      'a store with `get`, `set` and `delete`, and optionally `lease`, `reserve` and `pause`',
      isStore,
    ),
  },
  storeDeadlineMs: {
    check: wholeNumber(1, 60_000, 'a whole number of milliseconds from 1 to 60000'),
    default: DEFAULT_STORE_DEADLINE_MS,
  },
  onStoreEvent: { check: func('that takes an event'), default: ignore },
  evidence: { check: func('that takes an entry, such as `evidenceFile(path)`') },
  headersForRobots: { check: func('from an origin to header fields') },
  overrides: { check: overridesCheck, default: {} },
};

const clientOptions: Check = optionTable<Name>(OPTIONS);

/** The options with all defaults, as the modules below read them. */
export type Settings = Omit<WithDefaults, 'cache' | 'profile' | 'transport'> & {
  readonly tokens: Tokens;
  readonly userAgent: string;
  readonly profile: Profile;
  /** `undefined`: requests go through undici. */
  readonly transport: FetchFunction | Transport | undefined;
  readonly maxOrigins: number;
  readonly maxBytes: number;
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
  assertFitTogether(options);
  if (options.transport === undefined && platform.undici === undefined) assertFetchSuffices(options);
  // RFC 9309 §2.2.1: "The product token SHOULD be a substring of the identification string that the crawler sends to
  // the service." Without one, sites can neither name this crawler nor reach its operator.
  if (options.agent === undefined) warnOnce(NO_AGENT, 'CANFETCH_NO_AGENT');
  const { cache, ...settings } = withDefaults<WithDefaults>(options, OPTIONS);
  const { maxOrigins = 100_000, maxBytes = 128 * 1_048_576 } = cache;
  const { agent, maxBodyBytes, profile, transport } = settings;
  if (maxBytes < 2 * maxBodyBytes) {
    throw new RobotsInvalidOptionsError(
      `Expected \`cache.maxBytes\` to be at least twice \`maxBodyBytes\` (${maxBodyBytes}), got "${maxBytes}" (number)`,
    );
  }
  return {
    ...settings,
    tokens: agentTokens(agent),
    agent: typeof agent === 'string' ? agent : [...agent],
    userAgent: typeof agent === 'string' ? agent : agent[0]!,
    profile: readProfile(profile),
    transport: transportOf(transport),
    maxOrigins,
    maxBytes,
  };
}

/** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for two options of which one would have no effect. */
function assertFitTogether({ dispatcher, transport, lookup }: RobotsClientOptions): void {
  if (dispatcher !== undefined && transport !== undefined) {
    throw new RobotsInvalidOptionsError('Expected either `dispatcher` or `transport`, got both');
  }
  const other =
    typeof dispatcher === 'object' ? 'dispatcher' : transport === undefined ? undefined : 'transport';
  if (lookup === undefined || other === undefined) return;
  throw new RobotsInvalidOptionsError(
    `Expected either \`lookup\` or \`${other}\`, which looks up names by itself, got both`,
  );
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
  return isOwn && platform.undici?.checksConnections() === true ? 'connections' : 'literals';
}

const MANY = 10;
const WITHIN_MS = 60_000;
/** Agents that are counted. A program has one or two. */
const MAX_AGENTS = 100;

/** By agent the times at which its last clients were made, in ms of the process. */
const made = new Map<string, number[]>();

/**
 * Counts the clients of an agent that share nothing. A client for each URL, job or worker asks for robots.txt again, and none
 * waits for the requests of the others.
 */
export function countClient(agent: Agent): void {
  const name = String(agent);
  if (made.size >= MAX_AGENTS) made.clear();
  const times = made.get(name) ?? [];
  made.set(name, times);
  const now = performance.now();
  times.push(now);
  if (times.length > MANY) times.shift();
  if (times.length < MANY || now - times[0]! > WITHIN_MS) return;
  warnOnce(
    `${MANY} clients of ${quote(name)} were made within a minute, and each keeps a pace of its own: make one, ` +
      '`const robots = new RobotsClient({ agent })`, for the whole process, or give each the same ' +
      "`store: sqliteStore({ path: 'robots.sqlite' })` of canfetch/sqlite",
    'CANFETCH_MANY_CLIENTS',
  );
  made.clear();
}
