/** The checks of the client's options. `settings.ts` adds the defaults. */
import {
  allOf,
  func,
  abortSignal,
  hasMethod,
  type Check,
  DEFAULT_MAX_BODY_BYTES,
  predicate,
  fields,
  isFunction,
  isText,
  listOf,
  textMatching,
  nonEmptyText,
  oneOf,
  optional,
  optionTable,
  record,
  RobotsInvalidOptionsError,
  wholeNumber,
} from '../base/index.ts';
import { profileOrName, PURPOSES } from '../decision/index.ts';
import { ADDRESS_POLICIES } from '../net/address-policy.ts';
import { productToken } from '../rules/index.ts';
import type { RobotsClientOptions, PolicyOptions } from './options.ts';

/** RFC 9110 §5.1: field-name = token. */
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** RFC 9110 §5.5: visible ASCII, SP, HTAB and bytes above 0x7F. */
const FIELD_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** The check of what `headersForRobots` returns. */
export const headerFields: Check = record(
  textMatching('an object whose keys are names of header fields', FIELD_NAME),
  // A value may be a credential, so the message does not contain it.
  (value, path) => {
    if (isText(value) && FIELD_VALUE.test(value)) return;
    const what = isText(value) ? 'a string with other characters' : typeof value;
    throw new RobotsInvalidOptionsError(
      `Expected \`${path}\` to be a string that a header field can carry, got ${what}`,
    );
  },
);

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

/** By the key that identifies the kind, so that the message is about the intended one. */
const overrideKinds: Readonly<Record<string, Check>> = {
  text: fields({
    text: predicate('the text of a robots.txt', isText),
    because: optional(nonEmptyText('the reason, as text')),
  }),
  verdict: fields({ verdict: oneOf(['allow', 'disallow']), because: nonEmptyText('the reason, as text') }),
  profile: fields({ profile: profileOrName }),
};

const override: Check = (value, path) => {
  const kind = Object.keys(overrideKinds).find((key) => key in Object(value));
  const check =
    (kind === undefined ? undefined : overrideKinds[kind]) ??
    predicate('an object with `text`, with `verdict` and `because`, or with `profile`', () => false);
  check(value, path);
};

/** Optional methods of a store must be functions if present. */
function isStore(value: unknown): boolean {
  const method = (name: string): unknown => Reflect.get(Object(value), name);
  return (
    ['get', 'set', 'delete'].every((name) => isFunction(method(name))) &&
    ['lease', 'reserve', 'pause'].every((name) => method(name) === undefined || isFunction(method(name)))
  );
}

export const checkPurpose: Check = oneOf(PURPOSES);

/** The second argument of `policy`. */
export const policyOptions: Check = optionTable(
  { agent, signal: abortSignal } satisfies Readonly<Record<keyof PolicyOptions, Check>>,
  'an object, such as { agent, signal }',
);

/** Accepts exactly the valid {@link RobotsClientOptions}. */
export const clientOptions: Check = optionTable({
  agent,
  profile: profileOrName,
  deadlineMs: wholeNumber(1, 2 ** 31 - 1, 'a whole number of milliseconds, at least 1'),
  maxBodyBytes: wholeNumber(
    DEFAULT_MAX_BODY_BYTES,
    2 ** 27,
    `a whole number of bytes, at least ${DEFAULT_MAX_BODY_BYTES} (RFC 9309 §2.5: 500 KiB)`,
  ),
  concurrency: wholeNumber(1, 100_000, 'a whole number, at least 1'),
  addressPolicy: oneOf(ADDRESS_POLICIES),
  lookup: func('like dns.lookup'),
  dispatcher: predicate(
    'an undici Dispatcher, or a function from a URL to one',
    (value) => isFunction(value) || isFunction(Reflect.get(Object(value), 'dispatch')),
  ),
  transport: (value, path) => {
    // An instance of axios, which has a `request`, too, is not meant to be one.
    if (value !== 'fetch' && !isText(Reflect.get(Object(value), 'acceptEncoding')))
      fields(
        { fetch: func('like fetch') },
        "'fetch', an object with a `fetch`, or what `gotTransport` or `axiosTransport` returns",
      )(value, path);
  },
  ftp: hasMethod('request', 'an FTP transport, made by `ftpTransport()` of canfetch/ftp'),
  clock: hasMethod('now', 'an object whose `now()` returns epoch milliseconds'),
  random: func('that returns numbers in [0, 1)'),
  cache: optionTable({
    maxOrigins: wholeNumber(1, 2 ** 31 - 1, 'a whole number, at least 1'),
    maxBytes: wholeNumber(1_048_576, Number.MAX_SAFE_INTEGER, 'a whole number of bytes, at least 1 MiB'),
  }),
  store: predicate(
    'a store with `get`, `set` and `delete`, and optionally `lease`, `reserve` and `pause`',
    isStore,
  ),
  storeDeadlineMs: wholeNumber(1, 60_000, 'a whole number of milliseconds from 1 to 60000'),
  onStoreEvent: func('that takes an event'),
  evidence: func('that takes an entry, such as `evidenceFile(path)`'),
  headersForRobots: func('from an origin to header fields'),
  overrides: record(predicate('an object by origin', isText), override),
} satisfies Readonly<Record<keyof RobotsClientOptions, Check>>);
