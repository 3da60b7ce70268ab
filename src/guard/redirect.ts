/** The steps of "HTTP-redirect fetch" (Fetch standard §4.4) that concern a single hop. */

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 20;
const BODY_HEADERS = [
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
  'content-length',
];
const CREDENTIAL_HEADERS = ['authorization', 'proxy-authorization', 'cookie', 'host'];

/** A request as it stands before a hop. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
  /** The body can be read once only, so it cannot be sent again. */
  readonly bodyIsStream: boolean;
  readonly redirects: number;
}

/** Whether `response` redirects; without `Location` the standard returns it as it is. */
export function redirects(response: Response): boolean {
  return REDIRECTS.has(response.status) && response.headers.get('location') !== null;
}

/**
 * The request that follows a redirect.
 *
 * @throws TypeError where the standard returns a network error.
 */
export function nextHop(hop: Hop, response: Response): Hop {
  const { status } = response;
  const url = locationOf(hop, response);
  // Step 7: "If request's redirect count is 20, then return a network error."
  if (hop.redirects >= MAX_REDIRECTS) throw networkError(hop, `more than ${MAX_REDIRECTS} redirects`);
  // Step 12: "If internalResponse's status is not 303, request's body is non-null, and request's body's source is
  // null, then return a network error."
  if (status !== 303 && hop.bodyIsStream)
    throw networkError(hop, `a ${status} asks for a stream to be sent again`);

  let { method, body } = hop;
  const headers = new Headers(hop.headers);
  // Step 13: "status is 301 or 302 and request's method is `POST`", "status is 303 and request's method is not
  // `GET` or `HEAD`".
  if (
    ((status === 301 || status === 302) && method === 'POST') ||
    (status === 303 && method !== 'GET' && method !== 'HEAD')
  ) {
    method = 'GET';
    body = undefined;
    for (const name of BODY_HEADERS) headers.delete(name);
  }
  // Step 14: "If request's current URL's origin is not same origin with locationURL's origin, then for each
  // headerName of CORS non-wildcard request-header name, delete headerName".
  if (url.origin !== hop.url.origin) for (const name of CREDENTIAL_HEADERS) headers.delete(name);
  return { url, method, headers, body, bodyIsStream: false, redirects: hop.redirects + 1 };
}

function locationOf(hop: Hop, response: Response): URL {
  const location = response.headers.get('location') ?? '';
  let url: URL;
  try {
    url = new URL(location, hop.url);
  } catch (cause) {
    throw networkError(hop, `Location ${JSON.stringify(location)} is no URL`, cause);
  }
  // Step 6: "If locationURL's scheme is not an HTTP(S) scheme, then return a network error."
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw networkError(hop, `Location ${JSON.stringify(location)} is no http or https URL`);
  }
  // "If location's fragment is null, then set location's fragment to requestFragment."
  if (url.hash === '') url.hash = hop.url.hash;
  return url;
}

function networkError(hop: Hop, why: string, cause?: unknown): TypeError {
  return new TypeError(`fetch failed: redirect of ${hop.url.href}: ${why}`, { cause });
}
