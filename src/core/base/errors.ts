import { truncate, withoutCredentials } from './printable.ts';

/** Literal codes of every error this package throws. Match on these rather than on `instanceof`. */
export type RobotsErrorCode =
  | 'ERR_ROBOTS_INVALID_URL'
  | 'ERR_ROBOTS_INVALID_OPTIONS'
  | 'ERR_ROBOTS_CLOSED'
  | 'ERR_ROBOTS_ADDRESS_REFUSED'
  | 'ERR_ROBOTS_DISALLOWED'
  | 'ERR_ROBOTS_UNREACHABLE'
  | 'ERR_ROBOTS_DEFERRED'
  | 'ERR_ROBOTS_USAGE'
  | 'ERR_ROBOTS_EVIDENCE';

const brand = Symbol.for('canfetch.error');

/**
 * Base of the family. `instanceof RobotsError` also holds for errors of another copy of this package in the
 * same process, because it looks at a well-known symbol instead of the prototype.
 */
export abstract class RobotsError extends Error {
  abstract readonly code: RobotsErrorCode;

  static override [Symbol.hasInstance](this: unknown, value: unknown): boolean {
    if (this === RobotsError) return isRobotsError(value);
    return Function.prototype[Symbol.hasInstance].call(this, value);
  }
}

Object.defineProperty(RobotsError.prototype, brand, { value: true });

/** Whether `value` is an error of this package, of whatever copy. */
export function isRobotsError(value: unknown): value is RobotsError {
  return typeof value === 'object' && value !== null && brand in value;
}

/** The value given is not an absolute http, https or ftp URL of at most 65,536 bytes. */
export class RobotsInvalidUrlError extends RobotsError {
  override readonly name = 'RobotsInvalidUrlError';
  readonly code = 'ERR_ROBOTS_INVALID_URL';
  /** The given value, as text without credentials. Truncated if it is too long for a URL. */
  readonly input: string;

  /** @param expected Completes "Expected …". */
  // Not `ErrorOptions`, which TypeScript knows from `lib` ES2022 on.
  constructor(
    input: unknown,
    options?: { readonly cause?: unknown },
    expected = 'an absolute http, https or ftp URL',
  ) {
    const text = textOf(input);
    const shown = withoutCredentials(text);
    const got = typeof input === 'string' || input instanceof URL ? quote(shown) : show(input);
    // The error of the URL parser has the URL, too.
    super(`Expected ${expected}, got ${got}`, shown === text ? options : undefined);
    this.input = shown;
  }
}

/** An option, or an argument that works like one, is not what it must be. */
export class RobotsInvalidOptionsError extends RobotsError {
  override readonly name = 'RobotsInvalidOptionsError';
  readonly code = 'ERR_ROBOTS_INVALID_OPTIONS';
}

/** A file is not evidence of a crawl, or was changed after it was written. */
export class RobotsEvidenceError extends RobotsError {
  override readonly name = 'RobotsEvidenceError';
  readonly code = 'ERR_ROBOTS_EVIDENCE';
}

/** The client or the store was closed before or during the call. */
export class RobotsClosedError extends RobotsError {
  override readonly name = 'RobotsClosedError';
  readonly code = 'ERR_ROBOTS_CLOSED';

  constructor(what = 'RobotsClient') {
    super(`The ${what} is closed; create a new one to continue`);
  }
}

/**
 * The address policy forbids to connect to where a host leads. For robots.txt this makes the origin unreachable
 * (`robots.error`); guards with an `addressPolicy` reject with it.
 */
export class RobotsAddressRefusedError extends RobotsError {
  override readonly name = 'RobotsAddressRefusedError';
  readonly code = 'ERR_ROBOTS_ADDRESS_REFUSED';
  /** The host of the URL: a name, or a literal address. */
  readonly host: string;
  /** The address that the host resolved to: the first refused one. Absent when nothing was resolved. */
  readonly address: string | undefined;
  /** Absent, as the others below: the page was not decided about, and trying again does not help. */
  declare readonly decision?: undefined;
  declare readonly retryAt?: undefined;
  declare readonly requested?: undefined;
  declare readonly redirects?: undefined;

  /** @param what The purpose of the address in the IANA registries, or why it cannot be known. */
  constructor(host: string, what: string, address?: string) {
    const at = address === undefined ? '' : ` at ${quote(address)}`;
    super(
      `Refused to connect to ${quote(host)}${at} (${what}): the address policy requires a public address`,
    );
    this.host = host;
    this.address = address;
  }
}

/** Quotes and truncates a value from outside, so that a message stays one readable line. */
export function quote(value: unknown): string {
  return JSON.stringify(truncate(textOf(value), 200));
}

/** What came, for a message: `a list`, `"5" (number)`. */
export function show(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return `${quote(value)} (${typeof value})`;
}

/** The text of a value from outside. Anything may be given or thrown, also an object that has no text. */
export function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return typeof value;
  }
}

/** What an error says. Anything may be thrown. */
export function messageOf(error: unknown): string {
  return textOf(error instanceof Error ? error.message : error);
}

/** Longer than any real chain of wrappers. The limit also ends a circular chain. */
const MAX_ERRORS = 32;

/**
 * The thrown error and all errors that it wraps, outermost first: `fetch` has the reason in `cause`, clients and
 * retries wrap again, and a connection tried over several addresses has one failure each in the `errors` of an
 * `AggregateError`.
 */
export function causesOf(error: unknown): ReadonlySet<object> {
  const found = new Set<object>();
  const visit = (each: unknown): void => {
    if (typeof each !== 'object' || each === null || found.has(each) || found.size >= MAX_ERRORS) return;
    found.add(each);
    visit(Reflect.get(each, 'cause'));
    const errors: unknown = Reflect.get(each, 'errors');
    if (Array.isArray(errors)) errors.forEach(visit);
  };
  visit(error);
  return found;
}

/** The response is not valid in its protocol. */
export const MALFORMED = 'ERR_ROBOTS_MALFORMED';

/** An error without a code of its own. */
export const FETCH_FAILED = 'ERR_ROBOTS_FETCH_FAILED';

const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

/** The literal code of a thrown value, or of the outermost wrapped error that has one. */
export function codeOf(error: unknown): string {
  for (const each of causesOf(error)) {
    const code: unknown = Reflect.get(each, 'code');
    // Node and some versions of undici give a parser error a code (`HPE_INVALID_CONSTANT`), others none.
    if (Reflect.get(each, 'name') === 'HTTPParserError' || /^HPE_(?!HEADER_OVERFLOW)/.test(String(code)))
      return MALFORMED;
    if (typeof code === 'string' && CODE.test(code)) return code;
  }
  return FETCH_FAILED;
}

/** What this process was warned of. */
export const warned: Set<string> = new Set();

/** Warns the process, or the console of a platform without `process.emitWarning`. */
export function emitWarning(message: string, code: string, detail?: string): void {
  const { process }: { process?: { emitWarning?(message: string, options: object): void } } = globalThis;
  if (process?.emitWarning === undefined) console.warn(`${message} (${code})`);
  else process.emitWarning(message, { type: 'RobotsWarning', code, detail });
}

/** {@link emitWarning}, once in a process for each code. */
export function warnOnce(message: string, code: string): void {
  if (warned.has(code)) return;
  warned.add(code);
  emitWarning(message, code);
}

/**
 * Calls a function of the user that only listens, such as `onStoreEvent`. If it throws, or returns a promise that
 * rejects, that is no failure of ours: the process is warned once per name, with the code `CANFETCH_LISTENER_FAILED`.
 *
 * @param name The option or event that the function listens to.
 */
export function invokeListener<Values extends readonly unknown[]>(
  name: string,
  listener: (...values: Values) => unknown,
  ...values: Values
): void {
  try {
    const returned = listener(...values);
    if (typeof returned !== 'object' || returned === null || !('then' in returned)) return;
    Promise.resolve(returned).catch((error: unknown) => warnOfListener(name, error));
  } catch (error) {
    warnOfListener(name, error);
  }
}

function warnOfListener(name: string, error: unknown): void {
  if (warned.has(name)) return;
  warned.add(name);
  emitWarning(
    `\`${name}\` failed: ${textOf(error)}. No decision depends on it; its further failures are not reported`,
    'CANFETCH_LISTENER_FAILED',
    error instanceof Error ? textOf(error.stack) : undefined,
  );
}
