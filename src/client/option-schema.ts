import { alternatives, DEFAULT_MAX_BODY_BYTES, quote } from '../base/index.ts';
import { profileNames } from '../lifecycle/index.ts';
import { ADDRESS_POLICIES } from '../net/address-policy.ts';
import { dialects } from '../rules/dialect.ts';
import { productToken } from '../rules/index.ts';
import { z } from 'zod';

/** The first thing that is wrong, in one line. */
export function explain(error: z.ZodError, options: unknown): string {
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

export function show(value: object): string {
  try {
    return quote(JSON.stringify(value) ?? 'an object');
  } catch {
    return 'an object';
  }
}

export type Issue = Pick<z.core.$ZodIssue, 'code' | 'message' | 'path'> & {
  readonly keys?: readonly string[];
  readonly issues?: readonly { readonly message: string }[];
};

/** Of the branches of a union, the one that came furthest says best what is wrong. */
export function deepest(issue: z.core.$ZodIssue): Issue {
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

const oneOf = (...names: readonly string[]): z.ZodType => z.enum(names, { error: alternatives(names) });
const aFunction = (what: string): z.ZodType =>
  z.custom((value) => typeof value === 'function', { error: `a function ${what}` });
const anObjectWith = (method: string, what: string): z.ZodType =>
  z.custom((value) => typeof Reflect.get(Object(value), method) === 'function', { error: what });
const wholeNumber = (min: number, max: number, error: string): z.ZodNumber =>
  z.number({ error }).int({ error }).min(min, { error }).max(max, { error });

/** What a store need not have must be a function where it is there. */
function isStore(value: unknown): boolean {
  const method = (name: string): unknown => Reflect.get(Object(value), name);
  const isFunction = (name: string): boolean => typeof method(name) === 'function';
  return (
    ['get', 'set', 'delete'].every(isFunction) &&
    ['lease', 'reserve'].every((name) => method(name) === undefined || isFunction(name))
  );
}

const milliseconds = wholeNumber(0, Number.MAX_SAFE_INTEGER, 'a whole number of milliseconds');
const lifetime = wholeNumber(1_000, Number.MAX_SAFE_INTEGER, 'a whole number of milliseconds, at least 1000');
const treatment = oneOf('allow-all', 'disallow-all');
const meaning = oneOf('rules', 'unavailable', 'restricted', 'unreachable');

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
    dialect: oneOf(...Object.keys(dialects)),
    status: z.record(
      z.string().regex(/^[1-9](?:\d\d|xx)$/, { error: 'a status such as "429" or a class such as "4xx"' }),
      meaning,
    ),
    maxRedirects: wholeNumber(0, 100, 'a whole number from 0 to 100'),
    tooManyRedirects: oneOf('unavailable', 'unreachable'),
    disallowedRedirect: oneOf('followed', 'unavailable'),
    challenge: oneOf('as-status', 'unreachable'),
    whileUnreachable: z
      .array(
        z.strictObject({
          untilMs: milliseconds.nullable(),
          withCopy: oneOf('last-good', 'allow-all', 'disallow-all'),
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

export const headerFields: z.ZodType<Record<string, string>> = z.record(
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
      verdict: oneOf('allow', 'disallow'),
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

/** The options of a client. */
export const optionsSchema: z.ZodType = z.strictObject({
  agent: z.union([agentString, z.array(agentString).min(1, { error: 'at least one agent' })]).optional(),
  profile: profileOrName.optional(),
  deadlineMs: wholeNumber(1, 2 ** 31 - 1, 'a whole number of milliseconds, at least 1').optional(),
  maxBodyBytes: wholeNumber(
    DEFAULT_MAX_BODY_BYTES,
    2 ** 27,
    `a whole number of octets, at least ${DEFAULT_MAX_BODY_BYTES} (RFC 9309 §2.5: 500 KiB)`,
  ).optional(),
  concurrency: wholeNumber(1, 100_000, 'a whole number, at least 1').optional(),
  addressPolicy: oneOf(...ADDRESS_POLICIES).optional(),
  lookup: aFunction('like dns.lookup').optional(),
  dispatcher: anObjectWith('dispatch', 'an undici Dispatcher').optional(),
  transport: z
    .strictObject({ fetch: aFunction('like fetch') }, { error: 'an object with a `fetch`' })
    .optional(),
  ftp: anObjectWith('request', 'an FTP transport, made by `ftpTransport()` of canfetch/ftp').optional(),
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
  store: z
    .custom(isStore, { error: 'a store with `get`, `set` and `delete`, and `lease` and `reserve` if it can' })
    .optional(),
  storeDeadlineMs: wholeNumber(1, 60_000, 'a whole number of milliseconds from 1 to 60000').optional(),
  onStoreEvent: aFunction('that takes an event').optional(),
  headersForRobots: aFunction('from an origin to header fields').optional(),
  overrides: z.record(z.string(), overrideSchema()).optional(),
});
