import { type Clock, RobotsInvalidOptionsError, urlWithoutUserinfo } from '../../core/base/index.ts';
import { answeringFor, type Refusal, refusalOf } from '../../core/client/refusal-errors.ts';
import type { Fields } from '../shared/headers.ts';
import { bareUrl, type HopRequest } from '../shared/redirect.ts';
import { isRedirect } from '../../core/fetch/location.ts';
import { dropBody, isNodeStream, isWebStream } from '../shared/response-body.ts';

/** The part of a `Response`, of any realm, that a guard reads. */
export interface ResponseLike {
  readonly status: number;
  readonly type?: string;
  readonly url: string;
  readonly redirected: boolean;
  readonly headers: Fields;
  /** A web stream, or a Node stream as node-fetch returns it. */
  readonly body: ReadableStream<unknown> | { cancel(): Promise<void> } | { destroy(): unknown } | null;
  clone(): ResponseLike;
}

/** The URL of a response, and the redirects that led to it. */
export type Arrival = Pick<HopRequest, 'url' | 'redirects' | 'crossedOrigins'>;

/** Sets `url`, `redirected` and `type` of `response`, and of its clones, as after a chain of redirects. */
export function arrivedAt<Response extends ResponseLike>(response: Response, arrival: Arrival): Response {
  const clone = response.clone.bind(response);
  const refused = refusalOf(response);
  const cloneOf = (): ResponseLike => (refused === undefined ? clone() : answeringFor(clone(), refused));
  const { url, type } = response;
  return Object.defineProperties(response, {
    // "The url getter steps are to return […] this's response's URL, serialized with exclude fragment set to true."
    url: { value: url === '' ? withoutFragment(arrival.url) : url, configurable: true },
    redirected: { value: arrival.redirects > 0, configurable: true },
    // Each hop is a separate request for the wrapped fetch, so its type is "basic" there.
    type: { value: type === 'basic' && arrival.crossedOrigins ? 'cors' : type, configurable: true },
    clone: { value: () => arrivedAt(cloneOf(), arrival), configurable: true },
  });
}

/** The response of a refusal: 403, or 503 while robots.txt is unreachable. */
export function refusalResponse(refusal: Refusal, clock: Clock): Response {
  const { allowed, reason, retryAt } = refusal.decision;
  // A refusal whose decision allows fetching was made because of the purpose.
  const headers = new Headers({ 'x-robots-reason': allowed ? 'usage' : reason });
  if (reason !== 'unreachable') return synthetic(refusal, 403, 'Forbidden', headers);
  if (retryAt !== undefined) {
    headers.set('retry-after', String(Math.max(0, Math.ceil((retryAt - clock.now()) / 1000))));
  }
  return synthetic(refusal, 503, 'Service Unavailable', headers);
}

function synthetic(refusal: Refusal, status: number, statusText: string, headers: Headers): Response {
  return answeringFor(new Response(`${refusal.message}\n`, { status, statusText, headers }), refusal);
}

function withoutFragment(url: URL): string {
  const copy = new URL(url);
  copy.hash = '';
  return copy.href;
}

/** What a wrapped function has to be: a `fetch` that leaves redirects to the guard. */

const REMEDY =
  'for got use `canfetch/got`, for axios `canfetch/axios`; wrap `ofetch.raw` with `ignoreResponseError`, ky with `throwHttpErrors: false`, ' +
  'else a function that follows no redirect and ends with `return new Response(body, { status, headers })`';

function noFetch(got: string, cause?: unknown): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    `Expected guardFetch to wrap a function that resolves with a Response, got ${got}; ${REMEDY}`,
    { cause },
  );
}

/**
 * @param url The URL of the request.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for the result of another library, and where a redirect was
 *   followed unchecked. TypeError for a redirect that hides its target.
 */
export function assertFetched(response: ResponseLike, url: string): void {
  // Nearly always.
  if (response?.url === url && response.redirected === false && response.status > 0) return;
  if (!isResponse(response)) {
    dropBody(response);
    throw noFetch(
      `one that resolves with ${typeof response === 'object' ? 'another object' : typeof response}`,
    );
  }
  if (response.status === 0 && response.type === 'opaqueredirect') {
    dropBody(response);
    throw opaqueRedirect(url);
  }
  if (!hasFollowed(response, url)) return;
  dropBody(response);
  throw noFetch(`one that followed a redirect of ${urlWithoutUserinfo(url)} unchecked`);
}

/** The responses of axios and phin have the first two, too, but no body that streams, nor a method to read one. */
function isResponse(value: unknown): value is ResponseLike {
  const { status, headers, text, body }: Record<string, unknown> = Object(value);
  const { get }: { get?: unknown } = Object(headers);
  if (typeof status !== 'number' || typeof get !== 'function') return false;
  return typeof text === 'function' || body === null || isWebStream(body) || isNodeStream(body);
}

/** The response that a library rejects with, such as ky. */
export function responseOf(error: unknown): ResponseLike | undefined {
  const { response }: { response?: unknown } = Object(error);
  return isResponse(response) ? response : undefined;
}

function hasFollowed({ redirected, url }: ResponseLike, requested: string): boolean {
  if (redirected) return true;
  // Of a Response that was made by hand it is empty.
  if (url === requested || !URL.canParse(url)) return false;
  return bareUrl(url) !== bareUrl(requested);
}

/** The error of a hop; for a function that takes no init of a `fetch`, one that says so. */
export function hopError(error: unknown): unknown {
  const { message, code }: { message?: unknown; code?: unknown } = Object(error);
  // got says "Unexpected option: redirect". To superagent the URL, which can be parsed, is a method. ky rejects statuses.
  if (/\boption\b.*\bredirect\b/.test(String(message)) || code === 'ERR_INVALID_URL')
    return noFetch("one that refuses the init `{ redirect: 'manual' }`", error);
  if (isRedirect(responseOf(error)?.status ?? 0)) return noFetch('one that rejects redirects', error);
  return error;
}

/** The error for a redirect whose target is hidden, as `redirect: 'manual'` does in a browser. */
function opaqueRedirect(url: string): TypeError {
  const message =
    `Expected a fetch that shows where ${urlWithoutUserinfo(url)} redirects to, got an opaque redirect, ` +
    'as in browsers; request the URL that it redirects to';
  return Object.assign(new TypeError(message), { code: 'ERR_ROBOTS_REDIRECT_OPAQUE' });
}
