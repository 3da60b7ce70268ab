import { RobotsInvalidOptionsError, urlWithoutUserinfo } from '../../core/base/index.ts';
import { type HopRequest, redirectedRequest } from '../fetch/redirect.ts';
import { isStream } from '../fetch/request.ts';
import { cleanInPlace, sentUrl } from '../../core/url/index.ts';
import { redirects } from '../shared/headers.ts';
import type { SteppedRequest } from './request-guard.ts';
import type {
  HeaderRecord,
  HttpClient,
  HttpRequest,
  HttpResponse,
  RedirectHandler,
  UpdatedRequest,
} from './types.ts';

type RequestSteps = Pick<SteppedRequest, 'identity' | 'start' | 'onHeaders' | 'fail'>;

/** Begins the steps of a request. @param navigates Whether its response is the page that the crawler handles. */
type BeginSteps = (request: HttpRequest, navigates: boolean) => RequestSteps;

type Send = (request: HttpRequest) => Promise<HttpResponse>;

/**
 * Wraps `client`, so that each request and each redirect is checked before it is sent.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`): the client follows redirects by itself.
 */
export function guardHttpClient(client: HttpClient, begin: BeginSteps): HttpClient {
  const follow = takesHooks(client) ? followedByGot : followedByGuard;
  // ImpitHttpClient has this property, and ignores the `followRedirect` of a request.
  if (Reflect.get(client, 'followRedirects') === true) throw followsUnchecked('is set to follow them');
  /** Set once the client was found to follow redirects by itself. All further requests reject with this error. */
  let redirectError: unknown;
  const guarded = async (
    given: HttpRequest,
    navigates: boolean,
    send: Send,
    onRedirect?: RedirectHandler,
  ): Promise<HttpResponse> => {
    const steps = begin(given, navigates);
    const { robots: _, ...request } = { ...given, url: sentUrl(String(given.url)) };
    await steps.start(new URL(request.url));
    try {
      const headers = steps.identity?.identified(request.url, request.headers) ?? request.headers;
      if (redirectError !== undefined) throw redirectError;
      return await follow(send, { ...request, ...(headers && { headers }) }, steps, onRedirect);
    } catch (error) {
      steps.fail(error);
      if (error instanceof RobotsInvalidOptionsError) redirectError = error;
      throw error;
    }
  };
  return {
    sendRequest: (request) => guarded(request, false, (each) => client.sendRequest(each)),
    stream: (request, onRedirect) =>
      guarded(request, true, (each) => client.stream(each, onRedirect), onRedirect),
  };
}

/** What mends pages that are requested under another name. */
const REMEDY = '`withRobots(…, { identify: true })`';

/** Whether a client is Crawlee's own, which passes its options to got. */
function takesHooks(client: HttpClient): boolean {
  return client.constructor.name === 'GotScrapingHttpClient';
}

/** got follows redirects and awaits its hooks at each. The guard's hook runs last, so it sees the final URL. */
async function followedByGot(send: Send, request: HttpRequest, steps: RequestSteps): Promise<HttpResponse> {
  let seen = 0;
  let url = new URL(request.url);
  const beforeRedirect = async (
    updated: { readonly url: string | URL },
    response: Pick<HttpResponse, 'statusCode' | 'headers'>,
  ): Promise<void> => {
    seen += 1;
    steps.onHeaders(response);
    if (updated.url instanceof URL) cleanInPlace(updated.url);
    url = new URL(updated.url);
    await steps.start(url);
  };
  /** The client has chosen a `User-Agent` by then. */
  const beforeRequest = ({ headers }: { readonly headers: HeaderRecord }): void =>
    steps.identity?.compare(request.url, String(headers['user-agent'] ?? ''), REMEDY);
  const { hooks } = request;
  const response = await send({
    ...request,
    hooks: {
      ...hooks,
      beforeRequest: [...(hooks?.beforeRequest ?? []), beforeRequest],
      beforeRedirect: [...(hooks?.beforeRedirect ?? []), beforeRedirect],
    },
  });
  if ((response.redirectUrls?.length ?? 0) > seen) throw followedUnchecked(response, url);
  assertUsable(response, steps);
  return response;
}

/** Any other client sends one hop at a time. Redirects are followed here, by the steps of the Fetch standard. */
async function followedByGuard(
  send: Send,
  request: HttpRequest,
  steps: RequestSteps,
  onRedirect?: RedirectHandler,
): Promise<HttpResponse> {
  const { followRedirect = true, maxRedirects = Infinity } = request;
  const redirectUrls: URL[] = [];
  let next = firstRequest(request);
  let { headers = {} } = request;
  for (;;) {
    const { url, method, body } = next;
    const sent = { ...request, url: url.href, method, headers, body, followRedirect: false };
    const response = await send(sent);
    if (hasFollowed(response, url)) throw followedUnchecked(response, url);
    assertUsable(response, steps);
    const { statusCode: status } = response;
    const follows = typeof followRedirect === 'function' ? followRedirect(response) : followRedirect;
    if (!follows || !redirects(status, response.headers)) {
      return Object.defineProperty(response, 'redirectUrls', { value: redirectUrls, configurable: true });
    }
    response.stream?.destroy();
    if (redirectUrls.length >= maxRedirects) {
      throw new Error(
        `Expected at most ${maxRedirects} redirects, got another one from ${urlWithoutUserinfo(url.href)}`,
      );
    }
    next = redirectedRequest(next, { status, headers: response.headers });
    const updated: UpdatedRequest = { url: next.url, headers: Object.fromEntries(next.headers) };
    // Crawlee stores the cookies of the response, and sets `Cookie` for the next hop from its session.
    onRedirect?.(response, updated);
    if (updated.headers['Cookie'] !== undefined) delete updated.headers['cookie'];
    next = { ...next, url: new URL(updated.url) };
    await steps.start(next.url);
    redirectUrls.push(next.url);
    headers = updated.headers;
  }
}

/** @throws RobotsUsageError (`ERR_ROBOTS_USAGE`) after closing the response. */
function assertUsable(response: HttpResponse, steps: RequestSteps): void {
  const refusal = steps.onHeaders(response);
  if (refusal === undefined) return;
  response.stream?.destroy();
  throw refusal;
}

function firstRequest({ url, method = 'GET', headers = {}, body }: HttpRequest): HopRequest {
  const fields = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const each of [value].flat()) if (each !== undefined) fields.append(name, each);
  }
  const isOnceOnly = isStream(body) || (typeof body === 'object' && body !== null && 'next' in body);
  const first = new URL(url);
  return {
    url: first,
    method: method.toUpperCase(),
    headers: fields,
    body,
    // Not 'none': Crawlee's own client follows a redirect that drops the body, even if the body is a stream.
    bodySource: isOnceOnly ? 'unseen' : 'known',
    mode: undefined,
    firstOrigin: first.origin,
    crossedOrigins: false,
    redirects: 0,
  };
}

function hasFollowed({ url, redirectUrls = [] }: HttpResponse, requested: URL): boolean {
  return (
    redirectUrls.length > 0 || (url !== undefined && withoutFragment(url) !== withoutFragment(requested))
  );
}

function withoutFragment(url: string | URL): string {
  return new URL(url).href.split('#', 1)[0] ?? '';
}

function followedUnchecked(response: HttpResponse, requested: URL): RobotsInvalidOptionsError {
  response.stream?.destroy();
  return followsUnchecked(`followed one from ${urlWithoutUserinfo(requested.href)}`);
}

function followsUnchecked(what: string): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    `Expected an \`httpClient\` that leaves redirects to the guard, but it ${what} unchecked; ` +
      'turn redirects off where the client is created (`new ImpitHttpClient({ followRedirects: false })`)',
  );
}
