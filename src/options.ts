import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { type Profile, type ProfileName, profiles } from './access/index.ts';
import { type Clock, systemClock } from './clock.ts';
import { quote, RobotsInvalidOptionsError } from './errors.ts';
import type { FetchFunction } from './fetch/index.ts';
import { originOf } from './origin.ts';
import { productToken } from './rules/index.ts';
import { VERSION } from './version.ts';

/** A product token, a User-Agent string, or a list of those in order of preference. */
export type Agent = string | readonly string[];

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
  /** Attempts in flight at most, of all origins together. @default 32 */
  readonly concurrency?: number;
  /** undici dispatcher for robots.txt requests (a proxy, a shared pool). `close()` leaves it open. */
  readonly dispatcher?: Dispatcher;
  /** Instead of undici: any WHATWG fetch. */
  readonly transport?: { readonly fetch: FetchFunction };
  /** Where the time comes from. @default the system's */
  readonly clock?: Clock;
  /** Numbers in [0, 1) for jitter. @default Math.random */
  readonly random?: () => number;
  /** Bounds of the memory. @default { maxOrigins: 50_000, maxBytes: 128 MiB } */
  readonly cache?: { readonly maxOrigins?: number; readonly maxBytes?: number };
  /** Header fields to be added to the robots.txt request of an origin; not sent to where it redirects. */
  readonly headersForRobots?: (origin: string) => Readonly<Record<string, string>> | undefined;
  /** By origin (`https://example.com`). */
  readonly overrides?: Readonly<Record<string, OriginOverride>>;
}

/** The options with every default in place. */
export interface Settings {
  readonly tokens: readonly string[];
  readonly userAgent: string;
  readonly profile: Profile;
  readonly deadlineMs: number;
  readonly maxBodyBytes: number;
  readonly concurrency: number;
  readonly dispatcher: Dispatcher | undefined;
  readonly fetch: FetchFunction | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly maxOrigins: number;
  readonly maxBytes: number;
  readonly headersForRobots: ((origin: string) => Readonly<Record<string, string>> | undefined) | undefined;
  readonly overrides: ReadonlyMap<string, OriginOverride>;
}

const MIN_BODY_BYTES = 512_000;

const aFunction = (what: string): z.ZodType =>
  z.custom((value) => typeof value === 'function', { error: `a function ${what}` });
const anObjectWith = (method: string, what: string): z.ZodType =>
  z.custom((value) => typeof Reflect.get(Object(value), method) === 'function', { error: what });
const wholeNumber = (min: number, max: number, error: string): z.ZodNumber =>
  z.number({ error }).int({ error }).min(min, { error }).max(max, { error });

const milliseconds = wholeNumber(0, Number.MAX_SAFE_INTEGER, 'a whole number of milliseconds');
const profileNames = Object.keys(profiles);
const treatment = z.enum(['allow-all', 'disallow-all'], { error: "'allow-all' or 'disallow-all'" });
const meaning = z.enum(['rules', 'unavailable', 'restricted', 'unreachable'], {
  error: "'rules', 'unavailable', 'restricted' or 'unreachable'",
});

const aProfile = `one of ${profileNames.join(', ')}, or a whole profile object`;

const profileSchema = z.strictObject(
  {
    name: z.string({ error: 'a name' }).min(1, { error: 'a name' }),
    dialect: z.enum(['rfc9309', 'google', 'koster-1996', 'robotstxt-1994'], {
      error: "'rfc9309', 'google', 'koster-1996' or 'robotstxt-1994'",
    }),
    status: z.record(
      z.string().regex(/^[1-9](?:\d\d|xx)$/, { error: 'a status such as "429" or a class such as "4xx"' }),
      meaning,
    ),
    maxRedirects: wholeNumber(0, 100, 'a whole number from 0 to 100'),
    tooManyRedirects: z.enum(['unavailable', 'unreachable'], { error: "'unavailable' or 'unreachable'" }),
    disallowedRedirect: z.enum(['followed', 'unavailable'], { error: "'followed' or 'unavailable'" }),
    whileUnreachable: z
      .array(
        z.strictObject({
          untilMs: milliseconds.nullable(),
          withCopy: z.enum(['last-good', 'allow-all', 'disallow-all'], {
            error: "'last-good', 'allow-all' or 'disallow-all'",
          }),
          withoutCopy: treatment,
          whenSiteReachable: treatment.optional(),
        }),
      )
      .min(1)
      .refine(
        (phases) => phases.every((phase, at) => (phase.untilMs === null) === (at === phases.length - 1)),
        {
          error: 'phases of which the last, and only the last, has `untilMs: null`',
        },
      ),
    lifetime: z
      .strictObject({ defaultMs: milliseconds, minMs: milliseconds, maxMs: milliseconds })
      .refine((lifetime) => lifetime.minMs <= lifetime.maxMs, { error: 'bounds with `minMs` up to `maxMs`' }),
    conditionalRequests: z.boolean({ error: 'true or false' }),
    backoff: z.strictObject({ initialMs: milliseconds.min(1), maxMs: milliseconds.min(1) }),
    retryAfter: z.strictObject({ minMs: milliseconds, maxMs: milliseconds }),
    keepCopyOnUnavailableMs: milliseconds,
  },
  // Unknown keys keep their own message.
  { error: (issue) => (issue.code === 'invalid_type' ? aProfile : undefined) },
);

const profileOrName = z.union([z.enum(profileNames, { error: aProfile }), profileSchema]);

const agentString = z
  .string({ error: 'a product token or User-Agent string' })
  .refine((agent) => !/[\r\n]/.test(agent), { error: 'a string without CR or LF' })
  .refine((agent) => productToken(agent) !== undefined, {
    error: 'a string that holds a product token, such as "ExampleBot/1.0 (+https://example.com/bot)"',
  });

const schema = z.strictObject({
  agent: z.union([agentString, z.array(agentString).min(1, { error: 'at least one agent' })]).optional(),
  profile: profileOrName.optional(),
  deadlineMs: wholeNumber(1, 2 ** 31 - 1, 'a whole number of milliseconds, at least 1').optional(),
  maxBodyBytes: wholeNumber(
    MIN_BODY_BYTES,
    2 ** 27,
    `a whole number of octets, at least ${MIN_BODY_BYTES} (RFC 9309 §2.5: 500 KiB)`,
  ).optional(),
  concurrency: wholeNumber(1, 100_000, 'a whole number, at least 1').optional(),
  dispatcher: anObjectWith('dispatch', 'an undici Dispatcher').optional(),
  transport: z
    .strictObject({ fetch: aFunction('like fetch') }, { error: 'an object with a `fetch`' })
    .optional(),
  clock: anObjectWith('now', 'an object whose `now()` gives epoch milliseconds').optional(),
  random: aFunction('that gives numbers in [0, 1)').optional(),
  cache: z
    .strictObject({
      maxOrigins: wholeNumber(1, 2 ** 31 - 1, 'a whole number, at least 1').optional(),
      maxBytes: wholeNumber(
        1_048_576,
        Number.MAX_SAFE_INTEGER,
        'a whole number of octets, at least 1 MiB',
      ).optional(),
    })
    .optional(),
  headersForRobots: aFunction('from an origin to header fields').optional(),
  overrides: z
    .record(
      z.string(),
      z.union([
        z.strictObject({ text: z.string(), because: z.string().optional() }),
        z.strictObject({ verdict: z.enum(['allow', 'disallow']), because: z.string().min(1) }),
        z.strictObject({ profile: profileOrName }),
      ]),
    )
    .optional(),
});

/**
 * Checks the options and puts the defaults in.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), whose message names the option, what was
 *   expected and what came.
 */
export function readOptions(options: RobotsClientOptions): Settings {
  const result = schema.safeParse(options);
  if (!result.success) throw new RobotsInvalidOptionsError(explain(result.error, options));
  if (options.dispatcher !== undefined && options.transport !== undefined) {
    throw new RobotsInvalidOptionsError('Expected either `dispatcher` or `transport`, got both');
  }
  const agent = options.agent ?? `canfetch/${VERSION}`;
  return {
    tokens: agentTokens(agent),
    userAgent: typeof agent === 'string' ? agent : agent[0]!,
    profile: profileOf(options.profile ?? 'rfc9309'),
    deadlineMs: options.deadlineMs ?? 10_000,
    maxBodyBytes: options.maxBodyBytes ?? MIN_BODY_BYTES,
    concurrency: options.concurrency ?? 32,
    dispatcher: options.dispatcher,
    fetch: options.transport?.fetch,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    maxOrigins: options.cache?.maxOrigins ?? 50_000,
    maxBytes: options.cache?.maxBytes ?? 128 * 1_048_576,
    headersForRobots: options.headersForRobots,
    overrides: new Map(
      Object.entries(options.overrides ?? {}).map(([key, value]) => [overrideOrigin(key), value]),
    ),
  };
}

/** The profile of that name, or the object itself. */
export function profileOf(profile: ProfileName | Profile): Profile {
  return typeof profile === 'string' ? profiles[profile] : profile;
}

/**
 * The tokens an agent is compared by, in order of preference.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when one of them has no product token.
 */
export function agentTokens(agent: Agent): readonly string[] {
  const agents: readonly unknown[] = typeof agent === 'string' ? [agent] : Array.isArray(agent) ? agent : [];
  const tokens = agents.map((each) => {
    // "*" asks what holds for everybody whom no group names.
    const token = typeof each !== 'string' ? undefined : each === '*' ? each : productToken(each);
    if (token === undefined) {
      throw new RobotsInvalidOptionsError(
        `Expected \`agent\` to hold a product token, such as "ExampleBot" or "ExampleBot/1.0", got ${quote(each)}`,
      );
    }
    return token;
  });
  if (tokens.length === 0) {
    throw new RobotsInvalidOptionsError(
      `Expected \`agent\` to be a string or a list of strings, got ${quote(agent)}`,
    );
  }
  return tokens;
}

function overrideOrigin(key: string): string {
  try {
    return originOf(key);
  } catch (cause) {
    throw new RobotsInvalidOptionsError(
      `Expected a key of \`overrides\` to be an origin such as "https://example.com", got ${quote(key)}`,
      { cause },
    );
  }
}

/** The first thing that is wrong, in one line. */
function explain(error: z.ZodError, options: unknown): string {
  const issue = deepest(error.issues[0]!);
  const value = issue.path.reduce<unknown>(
    (parent, key) => (parent === undefined || parent === null ? undefined : Reflect.get(Object(parent), key)),
    options,
  );
  if (issue.code === 'unrecognized_keys') {
    const names = (issue.keys ?? []).map((key) => `\`${[...issue.path, key].join('.')}\``).join(', ');
    return `Expected only known options, got ${names}`;
  }
  const name = issue.path.length === 0 ? 'the options' : `\`${issue.path.join('.')}\``;
  const got = typeof value === 'object' && value !== null ? show(value) : `${quote(value)} (${typeof value})`;
  return `Expected ${name} to be ${issue.message.replace(/^Invalid input: expected /, '')}, got ${got}`;
}

function show(value: object): string {
  try {
    return quote(JSON.stringify(value) ?? 'an object');
  } catch {
    return 'an object';
  }
}

type Issue = Pick<z.core.$ZodIssue, 'code' | 'message' | 'path'> & { readonly keys?: readonly string[] };

/** Of the branches of a union, the one that came furthest says best what is wrong. */
function deepest(issue: z.core.$ZodIssue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  let best: Issue = issue;
  for (const branch of issue.errors) {
    const first = branch[0];
    if (first === undefined) continue;
    const inner = deepest(first);
    const path = [...issue.path, ...inner.path];
    if (best === issue || path.length > best.path.length || inner.code === 'custom')
      best = { ...inner, path };
  }
  return best;
}
