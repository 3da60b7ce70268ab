/** Reads the arguments of a fetch once, so that the request asked about is the request sent. */

/** Whatever `new Headers()` takes. */
export type HeadersInput = ConstructorParameters<typeof Headers>[0];

/** The `init` of a fetch, as far as a guard looks at it. */
export interface FetchInit {
  readonly method?: string;
  readonly headers?: HeadersInput;
  readonly body?: unknown;
  readonly mode?: string;
  readonly redirect?: string;
  readonly signal?: AbortSignal | null;
  readonly robots?: unknown;
}

/** A `Request`, of whatever realm. */
export interface RequestLike extends FetchInit {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
}

/** One call of a guarded fetch. */
export interface Call {
  /** The URL as it was given, parsed by nobody yet. */
  readonly url: string;
  /** The Request that was given. */
  readonly request: RequestLike | undefined;
  /** What is handed on as the first argument. */
  readonly input: string | RequestLike;
  /** What is handed on as the second, without `robots`. */
  readonly init: Omit<FetchInit, 'robots'>;
  readonly robots: unknown;
  readonly redirect: string;
  readonly signal: AbortSignal | undefined;
}

/** The members of a Request that a request by URL takes as well; `method`, `headers` and `body` apart. */
const REQUEST_MEMBERS = [
  'cache',
  'credentials',
  'integrity',
  'keepalive',
  'mode',
  'redirect',
  'referrer',
  'referrerPolicy',
  'signal',
] as const;
const INIT_MEMBERS = [
  ...REQUEST_MEMBERS,
  'method',
  'headers',
  'body',
  'duplex',
  'dispatcher',
  'robots',
] as const;

/**
 * Reads the arguments of a fetch.
 *
 * The text of a URL is taken now: a `URL` changed while the decision is pending must not change what is requested.
 * The same goes for `init` and its headers; a body is not copied.
 *
 * @param plainInit The `init` of a call that comes without.
 */
export function readCall(input: unknown, given: unknown, plainInit: Call['init'] = NO_INIT): Call {
  if (typeof input === 'string' && given === undefined) return plainCall(input, plainInit);
  const request = isRequest(input) ? input : undefined;
  const text = request?.url ?? String(input);
  const { robots, ...init } = readInit(given);
  // A member of `init` that is there wins over the Request's, also when it is null.
  const signal = init.signal === undefined ? request?.signal : init.signal;
  return {
    url: text,
    request,
    input: request ?? text,
    init: init.headers === undefined ? init : { ...init, headers: copyOf(init.headers) },
    robots,
    redirect: init.redirect ?? request?.redirect ?? 'follow',
    signal: signal ?? undefined,
  };
}

/** The `init` of a call that came without. */
export const NO_INIT: Call['init'] = Object.freeze({});

function plainCall(url: string, init: Call['init']): Call {
  return {
    url,
    request: undefined,
    input: url,
    init,
    robots: undefined,
    redirect: 'follow',
    signal: undefined,
  };
}

/** What a Request says besides method, headers and body, for requests that are made without it. */
export function membersOf(request: RequestLike): object {
  // A Request cannot be made with mode "navigate".
  return Object.fromEntries(
    pick(request, REQUEST_MEMBERS).filter(([name, value]) => name !== 'mode' || value !== 'navigate'),
  );
}

/** The arguments that ask for the same as `request`, for a fetch that does not know Requests of its realm. */
export function withoutRequest(request: RequestLike, init: object): [url: string, init: object] {
  const { url, method, headers, body } = request;
  const stream = body === null || body === undefined ? {} : { body, duplex: 'half' };
  return [url, { ...membersOf(request), method, headers: [...headers], ...stream, ...init }];
}

/** Whether `body` can be read once only, so that it cannot be sent again. */
export function isStream(body: unknown): boolean {
  return typeof body === 'object' && body !== null && (Symbol.asyncIterator in body || 'getReader' in body);
}

function isRequest(input: unknown): input is RequestLike {
  if (typeof input !== 'object' || input === null || input instanceof URL) return false;
  const headers: unknown = Reflect.get(input, 'headers');
  return (
    typeof Reflect.get(input, 'url') === 'string' &&
    typeof Reflect.get(input, 'method') === 'string' &&
    typeof headers === 'object' &&
    headers !== null
  );
}

/** `init` may be any object with the right properties, inherited ones too: `fetch(url, request)` is legal. */
function readInit(given: unknown): FetchInit {
  if (typeof given !== 'object' || given === null) return {};
  const prototype: unknown = Object.getPrototypeOf(given);
  if (prototype === Object.prototype || prototype === null) return { ...given };
  return { ...given, ...Object.fromEntries(pick(given, INIT_MEMBERS)) };
}

function pick(object: object, names: readonly string[]): [name: string, value: unknown][] {
  return names.flatMap((name): [string, unknown][] => {
    const value: unknown = Reflect.get(object, name);
    return value === undefined ? [] : [[name, value]];
  });
}

/** Headers of the same kind, so that names go out spelt as they were given. */
function copyOf(headers: NonNullable<HeadersInput>): NonNullable<HeadersInput> {
  if (Array.isArray(headers)) return [...headers];
  if (typeof headers !== 'object' || headers === null) return headers;
  return Symbol.iterator in headers ? new Headers(headers) : { ...headers };
}

/**
 * The URL of a call.
 *
 * @throws TypeError when it is no absolute URL, as `fetch` does.
 */
export function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch (cause) {
    throw new TypeError(`Failed to parse URL from ${text}`, { cause });
  }
}
