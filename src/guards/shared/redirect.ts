/** The steps of "HTTP-redirect fetch" (Fetch standard) that concern a single hop. */
import { isWebStream } from './response-body.ts';
import { urlWithoutUserinfo } from '../../core/base/index.ts';
import { locationText } from '../../core/fetch/location.ts';
import { cleanInPlace } from '../../core/url/index.ts';
import { fieldOf, type ResponseHead } from './headers.ts';

const MAX_REDIRECTS = 20;
/** "Request-body-header name", and `content-length`, which the standard's fetch sets by itself. */
const BODY_HEADERS = [
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
  'content-length',
];
/** "CORS non-wildcard request-header name", and credential fields that browsers do not let callers set. */
const CREDENTIAL_HEADERS = ['authorization', 'proxy-authorization', 'cookie', 'host'];
/**
 * Whether a body can be sent again. `none`: it is a stream ("request's body's source is null"). `unseen`: it is the
 * body of a Request, which does not show what it was made from.
 */
export type BodySource = 'known' | 'none' | 'unseen';

/** A request as it is sent: the first one, or one for a redirect. */
export interface HopRequest {
  readonly url: URL;
  /** The number of redirects followed. */
  readonly redirects: number;
  /** Whether a redirect led to an origin other than the first URL's. */
  readonly crossedOrigins: boolean;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
  readonly bodySource: BodySource;
  readonly mode: string | undefined;
  /** The origin of the URL that the caller gave. */
  readonly firstOrigin: string;
}

/** Whether `body` can be read once only, so that it cannot be sent again. */
export function isStream(body: unknown): boolean {
  return isWebStream(body) || Symbol.asyncIterator in Object(body);
}

/**
 * The request that follows a redirect.
 *
 * @throws TypeError where the standard returns a network error.
 */
export function redirectedRequest(hop: HopRequest, response: ResponseHead): HopRequest {
  const { status } = response;
  const url = locationOf(hop, response);
  // Step 6: "If locationURL's scheme is not an HTTP(S) scheme, then return a network error."
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw networkError(hop, `${JSON.stringify(urlWithoutUserinfo(url.href))} is not an http or https URL`);
  // Step 7: "If request's redirect count is 20, then return a network error."
  if (hop.redirects >= MAX_REDIRECTS) throw networkError(hop, `more than ${MAX_REDIRECTS} redirects`);
  // Step 9: "If request's mode is "cors", locationURL includes credentials, and request's origin is not same origin
  // with locationURL's origin, then return a network error." Outside a browser no origin is the same.
  if (url.username !== '' || url.password !== '')
    throw networkError(hop, 'the Location contains credentials');

  // "Main fetch", which comes next: "request's mode is "same-origin": return a network error", unless the URL is of
  // "request's origin". Outside a browser that is the origin of the URL that was given.
  const leavesFirstOrigin = url.origin !== hop.firstOrigin;
  if (leavesFirstOrigin && hop.mode === 'same-origin') {
    throw networkError(
      hop,
      `${urlWithoutUserinfo(url.href)} is of another origin, and the mode of the request is "same-origin"`,
    );
  }

  // Step 12: "internalResponse's status is 301 or 302 and request's method is `POST`", or "internalResponse's status
  // is 303 and request's method is not `GET` or `HEAD`".
  const becomesGet =
    ((status === 301 || status === 302) && hop.method === 'POST') ||
    (status === 303 && hop.method !== 'GET' && hop.method !== 'HEAD');
  // Step 11: "If internalResponse's status is not 303, request's body is non-null, and request's body's source is
  // null, then return a network error."
  // NOTE(fetch): the source of a Request's body cannot be read, and is text more often than a stream. So the redirect
  // is followed when step 12 drops the body, even if the Request was made from a stream. `guardFetch` has a clone.
  const { bodySource } = hop;
  if (status !== 303 && (bodySource === 'none' || (bodySource === 'unseen' && !becomesGet))) {
    throw networkError(hop, `a ${status} requires a stream to be sent again`);
  }
  const headers = new Headers(hop.headers);
  // Step 12: "Set request's method to `GET` and request's body to null. For each headerName of request-body-header
  // name, delete headerName from request's header list."
  if (becomesGet) for (const name of BODY_HEADERS) headers.delete(name);
  // Step 13: "If request's current URL's origin is not same origin with locationURL's origin, then for each
  // headerName of CORS non-wildcard request-header name, delete headerName from request's header list."
  if (url.origin !== hop.url.origin) for (const name of CREDENTIAL_HEADERS) headers.delete(name);
  return {
    url,
    method: becomesGet ? 'GET' : hop.method,
    headers,
    body: becomesGet ? undefined : hop.body,
    bodySource: becomesGet ? 'known' : bodySource,
    mode: hop.mode,
    firstOrigin: hop.firstOrigin,
    // "Response tainting" stays "cors" when a later redirect leads back.
    crossedOrigins: hop.crossedOrigins || leavesFirstOrigin,
    redirects: hop.redirects + 1,
  };
}

/** A response's "location URL". */
function locationOf(hop: HopRequest, response: ResponseHead): URL {
  const location = locationText(fieldOf(response.headers, 'location') ?? '');
  let url: URL;
  try {
    url = new URL(location, hop.url);
  } catch (cause) {
    // Step 5: "If locationURL is failure, then return a network error."
    throw networkError(hop, `Location ${JSON.stringify(urlWithoutUserinfo(location))} is not a URL`, cause);
  }
  // "If location is a URL whose fragment is null, then set location's fragment to requestFragment." An empty fragment
  // is not null.
  if (!url.href.includes('#')) url.hash = hop.url.hash;
  cleanInPlace(url);
  return url;
}

/** As of Node's fetch, the cause says why. */
function networkError(hop: HopRequest, why: string, cause: unknown = new Error(why)): TypeError {
  return new TypeError(`fetch failed: redirect of ${urlWithoutUserinfo(hop.url.href)}: ${why}`, { cause });
}

/**
 * Whether a request for `url` goes to a site; `data:`, `blob:` and `about:` do not.
 *
 * @throws TypeError when it is not an absolute URL.
 */
export function reachesSite(url: string | URL): boolean {
  // URL parsers ignore white space before and within the scheme, so only ordinary strings skip the parser.
  if (typeof url === 'string') {
    return url.startsWith('https:') || url.startsWith('http:') || reachesSite(parseUrl(url));
  }
  return url.protocol === 'http:' || url.protocol === 'https:' || url.protocol === 'ftp:';
}

/**
 * The URL of a request.
 *
 * @throws TypeError when it is no absolute URL, as `fetch` does.
 */
export function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch (cause) {
    throw new TypeError(`Failed to parse URL from ${urlWithoutUserinfo(text)}`, { cause });
  }
}

/** A URL as the response to its request shows it, without fragment and userinfo. */
export function bareUrl(text: string | URL): string {
  const url = new URL(text);
  url.hash = url.username = url.password = '';
  return url.href;
}
