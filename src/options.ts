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
const lifetime = wholeNumber(1_000, Number.MAX_SAFE_INTEGER, 'a whole number of milliseconds, at least 1000');
const profileNames = Object.keys(profiles);
const treatment = z.enum(['allow-all', 'disallow-all'], { error: "'allow-all' or 'disallow-all'" });
const meaning = z.enum(['rules', 'unavailable', 'restricted', 'unreachable'], {
  error: "'rules', 'unavailable', 'restricted' or 'unreachable'",
});

const aProfile = `one of ${profileNames.join(', ')}, or a whole profile object`;

function ascends(phases: readonly { readonly untilMs: number | null }[]): boolean {
  let before = -1;
  return (
    phases.at(-1)?.untilMs === null &&
    phases
      .slice(0, -1)
      .every(({ untilMs }) => untilMs !== null && untilMs > before && ((before = untilMs), true))
  );
}

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
      .refine(ascends, { error: 'phases in ascending order, of which the last alone has `untilMs: null`' }),
    lifetime: z
      .strictObject({ defaultMs: lifetime, minMs: lifetime, maxMs: lifetime })
      .refine(({ minMs, maxMs }) => minMs <= maxMs, { error: 'bounds with `minMs` up to `maxMs`' }),
    conditionalRequests: z.boolean({ error: 'true or false' }),
    backoff: z.strictObject({ initialMs: milliseconds.min(1), maxMs: milliseconds.min(1) }),
    retryAfter: z.strictObject({ minMs: milliseconds, maxMs: milliseconds }),
    keepCopyOnUnavailableMs: milliseconds,
  },
  // Unknown keys keep their own message.
  { error: (issue) => (issue.code === 'invalid_type' ? aProfile : undefined) },
);

const profileOrName = z.union([z.enum(profileNames, { error: aProfile }), profileSchema]);

/** RFC 9110 §5.5: visible ASCII, SP, HTAB and octets above 0x7F. */
function isFieldValue(value: string): boolean {
  return /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value);
}

const headerFields = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/),
  z.string().refine(isFieldValue),
);

const agentString = z
  .string({ error: 'a product token or User-Agent string' })
  .refine((agent) => !/[\r\n]/.test(agent), { error: 'a string without CR or LF' })
  .refine(isFieldValue, { error: 'a string of characters that a header field can carry' })
  .refine((agent) => productToken(agent) !== undefined, {
    error: 'a string that holds a product token, such as "ExampleBot/1.0 (+https://example.com/bot)"',
  });

const because = z.string({ error: 'the reason, as text' }).min(1, { error: 'the reason, as text' });

/** One schema per kind, chosen by the key that makes it: the message is then about what was meant. */
function overrideSchema(): z.ZodType {
  const kinds = {
    text: z.strictObject({
      text: z.string({ error: 'the text of a robots.txt' }),
      because: because.optional(),
    }),
    verdict: z.strictObject({
      verdict: z.enum(['allow', 'disallow'], { error: "'allow' or 'disallow'" }),
      because,
    }),
    profile: z.strictObject({ profile: profileOrName }),
  };
  return z.unknown().superRefine((value, context) => {
    const kind = (['text', 'verdict', 'profile'] as const).find((key) => key in Object(value));
    if (kind === undefined) {
      context.addIssue({
        code: 'custom',
        message: 'an object with `text`, with `verdict` and `because`, or with `profile`',
      });
      return;
    }
    const result = kinds[kind].safeParse(value);
    for (const issue of result.error?.issues ?? []) {
      const { path, message, keys = [] } = deepest(issue);
      if (keys.length === 0) context.addIssue({ code: 'custom', path: [...path], message });
      for (const key of keys) {
        context.addIssue({ code: 'custom', path: [...path, key], message: 'left out: it is not known' });
      }
    }
  });
}

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
  overrides: z.record(z.string(), overrideSchema()).optional(),
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
  const maxBodyBytes = options.maxBodyBytes ?? MIN_BODY_BYTES;
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
    profile: profileOf(options.profile ?? 'rfc9309'),
    deadlineMs: options.deadlineMs ?? 10_000,
    maxBodyBytes,
    concurrency: options.concurrency ?? 32,
    dispatcher: options.dispatcher,
    fetch: options.transport?.fetch,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    maxOrigins: options.cache?.maxOrigins ?? 50_000,
    maxBytes,
    headersForRobots: options.headersForRobots,
    overrides: readOverrides(options.overrides ?? {}),
  };
}

/**
 * The profile of that name, or a copy of the object, so that what was checked is what holds. A status map that does
 * not say what 2xx means is taken as changes to the one of `rfc9309`.
 */
export function profileOf(profile: ProfileName | Profile): Profile {
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
  let headers: unknown;
  try {
    headers = headersForRobots?.(origin);
  } catch (cause) {
    throw new RobotsInvalidOptionsError(`\`headersForRobots\` failed for ${quote(origin)}`, { cause });
  }
  const result = headerFields.optional().safeParse(headers);
  if (result.success) return result.data;
  throw new RobotsInvalidOptionsError(
    `Expected \`headersForRobots\` to give header fields as strings, got ${show(Object(headers))} for ${quote(origin)}`,
  );
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
  // A key that is none says what it should be in an issue of its own.
  const expected = issue.issues?.[0]?.message ?? issue.message;
  const got = typeof value === 'object' && value !== null ? show(value) : `${quote(value)} (${typeof value})`;
  return `Expected ${name} to be ${expected.replace(/^Invalid input: expected (.*?)(?:, received .*)?$/, '$1')}, got ${got}`;
}

function show(value: object): string {
  try {
    return quote(JSON.stringify(value) ?? 'an object');
  } catch {
    return 'an object';
  }
}

type Issue = Pick<z.core.$ZodIssue, 'code' | 'message' | 'path'> & {
  readonly keys?: readonly string[];
  readonly issues?: readonly { readonly message: string }[];
};

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
