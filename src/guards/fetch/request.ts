import { sentUrl } from '../../core/url/index.ts';
import { parseUrl, type BodySource, type HopRequest, isStream } from '../shared/redirect.ts';
import type { ResponseLike } from './response.ts';

/** Reads the arguments of a fetch once, so that the request checked is the request sent. */

/** The argument of `new Headers()`. */
export type HeadersInput = ConstructorParameters<typeof Headers>[0];

/** The part of the `init` of a fetch that a guard reads. */
export interface FetchInit {
  readonly method?: string;
  readonly headers?: HeadersInput;
  readonly body?: unknown;
  readonly mode?: string;
  readonly redirect?: string;
  readonly signal?: AbortSignal | null;
  readonly robots?: unknown;
}

/** A `Request` of any realm. */
export interface RequestLike extends FetchInit {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  clone(): RequestLike;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** One call of a guarded fetch. */
export interface Call {
  /** The URL as given, not parsed yet. */
  readonly url: string;
  /** The Request, if one was given. */
  readonly request: RequestLike | undefined;
  /** The first argument for the wrapped fetch. */
  readonly input: string | RequestLike;
  /** The second argument for the wrapped fetch, without `robots`. */
  readonly init: Omit<FetchInit, 'robots'>;
  readonly robots: unknown;
  readonly redirect: string;
  readonly signal: AbortSignal | undefined;
}

/** The members of a Request that an `init` has too, without `method`, `headers` and `body`. */
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
 * Copies the text of a `URL`, `init` and its headers, so that changes while the decision is pending do not change the
 * request. A body is not copied.
 *
 * @param userAgent Sent by a call without `init`.
 */
export function readCall(input: unknown, given: unknown, userAgent?: string): Call {
  if (typeof input === 'string' && given === undefined)
    return plainCall(sentUrl(input), plainInit(userAgent));
  const request = isRequest(input) ? input : undefined;
  const asGiven = request?.url ?? String(input);
  const text = sentUrl(asGiven);
  const { robots, ...rest } = readInit(given);
  const isReplaced = request !== undefined && text !== asGiven;
  const init: Call['init'] = isReplaced ? withoutRequest(request, rest)[1] : rest;
  // A member of `init` takes precedence over the Request's, even when it is null.
  const signal = init.signal === undefined ? request?.signal : init.signal;
  return {
    url: text,
    request,
    input: isReplaced ? text : (request ?? text),
    init: init.headers === undefined ? init : { ...init, headers: copyOf(init.headers) },
    robots,
    redirect: init.redirect ?? request?.redirect ?? 'follow',
    signal: signal ?? undefined,
  };
}

/** The `init` of a call without one, as it is sent. Each call has its own: the wrapped function may write to it. */
export function plainInit(userAgent: string | undefined): Call['init'] {
  return { redirect: 'manual', ...(userAgent !== undefined && { headers: { 'user-agent': userAgent } }) };
}

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

/** The methods that the standard's "normalize" puts in upper case; `patch` stays `patch`. */
const NORMALIZED_METHODS: ReadonlySet<string> = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT']);

/** The first request of a call. */
export function firstRequest({ url, request, init }: Call): HopRequest {
  const method = init.method ?? request?.method ?? 'GET';
  const upperCase = method.toUpperCase();
  const ownBody = init.body ?? undefined;
  const requestBody = request?.body ?? undefined;
  const firstUrl = parseUrl(url);
  return {
    url: firstUrl,
    method: NORMALIZED_METHODS.has(upperCase) ? upperCase : method,
    headers: new Headers(init.headers ?? request?.headers),
    body: ownBody ?? requestBody,
    bodySource: sourceOf(ownBody, requestBody),
    mode: init.mode ?? request?.mode,
    firstOrigin: firstUrl.origin,
    crossedOrigins: false,
    redirects: 0,
  };
}

function sourceOf(ownBody: unknown, requestBody: unknown): BodySource {
  if (ownBody === undefined) return requestBody === undefined ? 'known' : 'unseen';
  return isStream(ownBody) ? 'none' : 'known';
}

/** The members of a Request besides method, headers and body, for requests that are made without it. */
export function membersOf(request: RequestLike): object {
  // A Request cannot be made with mode "navigate".
  return Object.fromEntries(
    pick(request, REQUEST_MEMBERS).filter(([name, value]) => name !== 'mode' || value !== 'navigate'),
  );
}

/** Arguments equivalent to `request`, for another URL. */
function withoutRequest(request: RequestLike, init: object): [url: string, init: object] {
  const { url, method, headers, body } = request;
  const stream = body === null || body === undefined ? {} : { body, duplex: 'half' };
  return [url, { ...membersOf(request), method, headers: [...headers], ...stream, ...init }];
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

/** A copy of the headers, of the same type, so that names keep their upper and lower case. */
function copyOf(headers: NonNullable<HeadersInput>): NonNullable<HeadersInput> {
  if (Array.isArray(headers)) return [...headers];
  if (typeof headers !== 'object' || headers === null) return headers;
  return Symbol.iterator in headers ? new Headers(headers) : { ...headers };
}

/** The wrapped fetch, with the types of the Fetch standard. */
export type Send = (input: string | RequestLike, init?: object) => Promise<ResponseLike>;
