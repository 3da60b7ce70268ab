/** What a wrapped function has to be: a `fetch` that leaves redirects to the guard. */
import { RobotsInvalidOptionsError, urlWithoutUserinfo } from '../../core/base/index.ts';
import { isRedirect } from '../../core/fetch/location.ts';
import { dropBody, isNodeStream, isWebStream } from '../shared/response-body.ts';
import type { ResponseLike } from './response.ts';

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
  return bare(url) !== bare(requested);
}

function bare(text: string): string {
  const url = new URL(text);
  url.hash = url.username = url.password = '';
  return url.href;
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
