/**
 * Checks options with tables of one check per name. Written by hand: loading a schema library would double the import
 * time of the package.
 */
import { RobotsInvalidOptionsError, show } from './errors.ts';

/**
 * The error for an invalid argument or option.
 *
 * @param choices The valid values. If one of them was probably meant, the message proposes it.
 */
export function invalid(
  name: string,
  expected: string,
  got: unknown,
  choices: readonly string[] = [],
): RobotsInvalidOptionsError {
  const meant = closestChoice(got, choices);
  const proposal = meant === undefined ? '' : `; did you mean '${meant}'?`;
  return new RobotsInvalidOptionsError(`Expected ${name} to be ${expected}, got ${show(got)}${proposal}`);
}

/** The choice that `got` misspells by one or two letters, or by the order of its words, as `ai-train` for `train-ai`. */
export function closestChoice(got: unknown, choices: readonly string[]): string | undefined {
  if (typeof got !== 'string') return undefined;
  const word = got.toLowerCase();
  const sorted = (text: string): string => text.split('-').sort().join();
  return choices.find(
    (choice) =>
      isWithinEditDistance(word, choice, choice.length > 5 ? 2 : 1) || sorted(word) === sorted(choice),
  );
}

/**
 * Throws for unknown options: a misspelt one would silently have no effect.
 *
 * @param prefix Put before the names in messages.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), also when the options are no object.
 */
export function assertKnownOptions(options: unknown, known: readonly string[], prefix = ''): void {
  if (typeof options !== 'object' || options === null) throw invalid('the options', 'an object', options);
  const unknown = Object.keys(options).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw unknownOptions(unknown, known, prefix);
}

/** The error for unknown options. It suggests the known option nearest to the first of them. */
function unknownOptions(
  unknown: readonly string[],
  known: readonly string[],
  prefix: string,
): RobotsInvalidOptionsError {
  const names = unknown.map((name) => `\`${prefix}${name}\``).join(', ');
  const proposal = proposalFor(unknown[0] ?? '', known, prefix);
  return new RobotsInvalidOptionsError(
    `Expected only known options, got ${names}${proposal === undefined ? '' : `; ${proposal}`}`,
  );
}

function proposalFor(name: string, known: readonly string[], prefix: string): string | undefined {
  const word = name.toLowerCase();
  const elsewhere = OTHER_NAMES.find(
    ([words, option]) => known.includes(option) && words.split(' ').includes(word.replaceAll(/[-_]/g, '')),
  );
  if (elsewhere?.[2] !== undefined) return elsewhere[2];
  // The closest one: `maxDelayMS` is two letters from `minDelayMs`, too.
  const meant =
    elsewhere?.[1] ??
    [0, 1, 2]
      .map((edits) => known.find((each) => isWithinEditDistance(word, each.toLowerCase(), edits)))
      .find((each) => each !== undefined);
  return meant === undefined ? undefined : `did you mean \`${prefix}${meant}\`?`;
}

/**
 * Words of other libraries, the option that is known where they are told apart (`deadlineMs`: the client's; `pacing`: a
 * guard's), and the proposal if it is not that option.
 */
const OTHER_NAMES: readonly (readonly [words: string, known: string, proposal?: string])[] = [
  ['useragent', 'agent'],
  ['timeout timeoutms', 'deadlineMs'],
  ['timeout', 'timeoutMs'],
  ['fetch', 'transport', 'did you mean `transport: { fetch }`?'],
  ['ttl cachettl maxage', 'profile', 'did you mean `profile`, whose `lifetime` has the bounds?'],
  ['proxy', 'dispatcher', 'did you mean `dispatcher: new ProxyAgent(url)` of undici?'],
  ['proxy', 'pacing', 'a proxy is set where the pages are sent, and as `dispatcher` of the client'],
  ['headers', 'headersForRobots'],
  ['headers', 'pacing', 'header fields are set where the pages are sent'],
  [
    'retries',
    'profile',
    'did you mean `profile`, whose `robotsRetry` has the pauses? For pages: `retryLater`',
  ],
  ['retries', 'pacing', '`retryLater(task)` tries pages again'],
  ['delay delayms', 'defaultDelayMs'],
  ['delay delayms', 'pacing', 'did you mean `pacing: { defaultDelayMs }`?'],
  ['delay delayms', 'deadlineMs', 'the delay of pages is set at a guard: `pacing: { defaultDelayMs }`'],
  [
    'logger',
    'deadlineMs',
    '`evidence: console.log` shows attempts and decisions, and channels of node:diagnostics_channel have all events',
  ],
  ['logger', 'pacing', 'did you mean `onRefusal`? Channels of node:diagnostics_channel have all events'],
];

/** `'one', 'other' or 'third'`, for messages. */
export function alternatives(names: readonly string[]): string {
  const quoted = names.map((name) => `'${name}'`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

/**
 * Whether at most `edits` typing errors turn `word` into `name`: a letter inserted, omitted or replaced, or two
 * neighbouring letters swapped. Case counts.
 */
export function isWithinEditDistance(word: string, name: string, edits: number): boolean {
  if (Math.abs(word.length - name.length) > edits) return false;
  let same = 0;
  while (same < name.length && word[same] === name[same]) same++;
  const wordRest = word.slice(same);
  const nameRest = name.slice(same);
  if (wordRest === nameRest) return true;
  if (edits === 0) return false;
  const swapped = wordRest.length > 1 && wordRest[0] === nameRest[1] && wordRest[1] === nameRest[0];
  return (
    isWithinEditDistance(wordRest.slice(1), nameRest.slice(1), edits - 1) ||
    isWithinEditDistance(wordRest.slice(1), nameRest, edits - 1) ||
    isWithinEditDistance(wordRest, nameRest.slice(1), edits - 1) ||
    (swapped && isWithinEditDistance(wordRest.slice(2), nameRest.slice(2), edits - 1))
  );
}

/**
 * Returns if `value` is valid.
 *
 * @param path Where the value is, such as `cache.maxBytes`; '' for the options object itself.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`). The message has the option, what was expected and
 * what came.
 */
export type Check = (value: unknown, path: string) => void;

/** A check by a predicate. `expected` completes "Expected `name` to be …". */
export function predicate(expected: string, holds: (value: unknown) => boolean): Check {
  return (value, path) => {
    if (!holds(value)) throw invalid(nameOf(path), expected, value);
  };
}

export const isFunction = (value: unknown): boolean => typeof value === 'function';

export const isText = (value: unknown): value is string => typeof value === 'string';

/** A string that the pattern matches. */
export function textMatching(expected: string, pattern: RegExp): Check {
  return predicate(expected, (value) => isText(value) && pattern.test(value));
}

export function nonEmptyText(expected: string): Check {
  return predicate(expected, (value) => isText(value) && value !== '');
}

/** @param what Completes "a function …". */
export function func(what = ''): Check {
  return predicate(`a function ${what}`.trimEnd(), isFunction);
}

/** An object with a method of that name, such as an instance from another library. */
export function hasMethod(method: string, expected: string): Check {
  return predicate(expected, (value) => isFunction(Reflect.get(Object(value), method)));
}

/** A safe integer within the bounds, both included. */
export function wholeNumber(min: number, max: number, expected: string): Check {
  return predicate(
    expected,
    (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max,
  );
}

export const milliseconds: Check = wholeNumber(0, Number.MAX_SAFE_INTEGER, 'a whole number of milliseconds');

export const abortSignal: Check = hasMethod('throwIfAborted', 'an AbortSignal');

/** Throws the reason of an aborted signal, or that it is none. */
export function throwIfAborted(signal: AbortSignal | null | undefined): void {
  if (signal === undefined || signal === null) return;
  abortSignal(signal, 'signal');
  signal.throwIfAborted();
}

export function oneOf(names: readonly string[], expected: string = alternatives(names)): Check {
  return (value, path) => {
    if (!names.some((name) => name === value)) throw invalid(nameOf(path), expected, value, names);
  };
}

/** Allows `undefined`. */
export function optional(check: Check): Check {
  return (value, path) => {
    if (value !== undefined) check(value, path);
  };
}

/** All of the checks, in order. */
export function allOf(...checks: readonly Check[]): Check {
  return (value, path) => {
    for (const check of checks) check(value, path);
  };
}

/** An object with exactly the fields of a table. */
export function fields(table: Readonly<Record<string, Check>>, expected = 'an object'): Check {
  const known = Object.keys(table);
  const checks = Object.entries(table);
  return (value, path) => {
    if (!isObject(value)) throw invalid(nameOf(path), expected, value);
    const unknown = Object.keys(value).filter((name) => !known.includes(name));
    if (unknown.length > 0) throw unknownOptions(unknown, known, path === '' ? '' : `${path}.`);
    for (const [name, check] of checks) checkField(value, name, path, check);
  };
}

/** Like {@link fields}, with every field optional. */
export function optionTable<Name extends string>(
  table: Readonly<Record<Name, Check | OptionRow<unknown>>>,
  expected = 'an object',
): Check {
  const rows = Object.entries<Check | OptionRow<unknown>>(table);
  const checks = rows.map(([name, row]) => [name, optional(typeof row === 'function' ? row : row.check)]);
  return fields(Object.fromEntries(checks), expected);
}

type OptionRow<Value> = { readonly check: Check } & (undefined extends Value
  ? { readonly default?: Value }
  : { readonly default: Value });

/** Of each option, what it must be, and what it is when it is left out. */
export type OptionRows<Options> = { readonly [Name in keyof Options]: OptionRow<Options[Name]> };

/** The options with the defaults of a table. */
export function withDefaults<Options>(options: object, table: OptionRows<Options>): Options;
export function withDefaults(options: object, table: Readonly<Record<string, OptionRow<unknown>>>): object {
  return Object.fromEntries(
    Object.entries(table).map(([name, row]) => [name, Reflect.get(options, name) ?? row.default]),
  );
}

/**
 * An object with any keys. A `Map` or `Headers` is refused: its entries are not properties and would be overlooked.
 */
export function record(key: Check, value: Check): Check {
  return (entries, path) => {
    if (!isObject(entries) || !isPlain(entries)) throw invalid(nameOf(path), 'a plain object', entries);
    for (const name of Object.keys(entries)) {
      key(name, path);
      checkField(entries, name, path, value);
    }
  };
}

function checkField(value: object, name: string, path: string, check: Check): void {
  const at = within(path, name);
  let field: unknown;
  try {
    field = Reflect.get(value, name);
  } catch (cause) {
    throw new RobotsInvalidOptionsError(`Expected \`${at}\` to be readable, got an error`, { cause });
  }
  check(field, at);
}

/** A list. `expected` is for the message when the value is no list, or is too short. */
export function listOf(each: Check, expected: string, minLength: number): Check {
  return (value, path) => {
    if (!Array.isArray(value) || value.length < minLength) throw invalid(nameOf(path), expected, value);
    value.forEach((item: unknown, index) => each(item, within(path, String(index))));
  };
}

const nameOf = (path: string): string => (path === '' ? 'the options' : `\`${path}\``);

const within = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether it is a plain object, of any realm. */
function isPlain(value: object): boolean {
  const parent: unknown = Object.getPrototypeOf(value);
  return parent === null || Object.getPrototypeOf(parent) === null;
}
