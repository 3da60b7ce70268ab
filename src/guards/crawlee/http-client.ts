import { ignore, RobotsInvalidOptionsError, urlWithoutUserinfo } from '../../core/base/index.ts';
import { sentUrl } from '../../core/url/index.ts';
import { exchange, type LibraryCall } from '../shared/exchange.ts';
import { type ResponseHead, redirects } from '../shared/headers.ts';
import type { RequestOptions } from '../shared/admission.ts';
import type { GuardedRequest } from '../shared/guarded-request.ts';
import { bareUrl, type HopRequest, isStream, redirectedRequest } from '../shared/redirect.ts';
import { isNodeStream, observeNodeStream } from '../shared/response-body.ts';
import type { Refusal } from '../../core/client/refusal-errors.ts';
import type { Guard } from '../shared/guard.ts';
import type {
  HeaderRecord,
  HttpClient,
  HttpRequest,
  HttpResponse,
  RedirectHandler,
  UpdatedRequest,
} from './types.ts';

/** What the guard does with a request, and the redirects it meets. */
export interface RequestSteps extends Pick<RequestOptions, 'because' | 'maxTotalWaitMs'> {
  readonly guard: Guard;
  /** The request that was admitted when it was taken from the queue. */
  readonly admitted?: GuardedRequest | undefined;
  /** Called with the request and each of its redirects. It is then in flight until another place finishes it. */
  readonly onRequest?: (request: GuardedRequest) => void;
  readonly onRefusal?: (refusal: Refusal) => void;
}

/** Begins the steps of a request. @param navigates Whether its response is the page that the crawler handles. */
type BeginSteps = (request: HttpRequest, navigates: boolean) => RequestSteps;

type Send = (request: HttpRequest) => Promise<HttpResponse>;

/**
 * Wraps `client`, so that each request and each redirect is checked before it is sent. Redirects are followed here, by the
 * steps of the Fetch standard, with the cookies of Crawlee's session.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`): the client follows redirects by itself.
 */
export function guardHttpClient(client: HttpClient, begin: BeginSteps): HttpClient {
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
    if (redirectError !== undefined) throw redirectError;
    const steps = begin(given, navigates);
    const { robots: _, ...request } = { ...given, url: sentUrl(String(given.url)) };
    const headers = steps.guard.identity?.identified(request.headers) ?? request.headers;
    const call = new ClientCall({ ...request, ...(headers && { headers }) }, steps, send, onRedirect);
    try {
      return await exchange(steps.admitted ?? steps.guard.plan(new URL(request.url), call.options), call);
    } catch (error) {
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

/** As got, which Crawlee's own client uses. */
const MAX_REDIRECTS = 10;

interface ClientResponse extends ResponseHead {
  readonly response: HttpResponse;
}

/** A request of an HTTP client, hop by hop. */
class ClientCall implements LibraryCall<HopRequest, ClientResponse, HttpResponse> {
  readonly options: RequestOptions;
  readonly #request: HttpRequest;
  readonly #steps: RequestSteps;
  readonly #send: Send;
  readonly #onRedirect: RedirectHandler | undefined;
  readonly #redirectUrls: URL[] = [];
  /** Of the next hop. */
  #headers: HeaderRecord;

  constructor(request: HttpRequest, steps: RequestSteps, send: Send, onRedirect?: RedirectHandler) {
    const { headers = {}, hooks, sessionToken = {} } = request;
    /** Crawlee's own client has chosen a `User-Agent` by then, which it keeps for the token. */
    const beforeRequest = ({ headers: sent }: { readonly headers: HeaderRecord }): void =>
      steps.guard.identity?.chosen(String(sent['user-agent'] ?? ''), REMEDY);
    this.#request = {
      ...request,
      sessionToken,
      hooks: { ...hooks, beforeRequest: [...(hooks?.beforeRequest ?? []), beforeRequest] },
    };
    this.options = {
      signal: request.signal,
      because: steps.because,
      maxTotalWaitMs: steps.maxTotalWaitMs,
    };
    this.#steps = steps;
    this.#send = send;
    this.#onRedirect = onRedirect;
    this.#headers = headers;
  }

  beforeHop(request: GuardedRequest): void {
    this.#steps.onRequest?.(request);
  }

  async send(hop = firstRequest(this.#request)): Promise<ClientResponse> {
    const { url, method, body } = hop;
    const headers = this.#headers;
    const sent = { ...this.#request, url: url.href, method, headers, body, followRedirect: false };
    const response = await this.#send(sent);
    if (hasFollowed(response, url)) {
      response.stream?.destroy();
      throw followsUnchecked(`followed one from ${urlWithoutUserinfo(url.href)}`);
    }
    return { status: response.statusCode, headers: response.headers, response };
  }

  follows({ status, headers, response }: ClientResponse): boolean {
    const { followRedirect = true } = this.#request;
    const follows = typeof followRedirect === 'function' ? followRedirect(response) : followRedirect;
    return follows && redirects(status, headers);
  }

  async next(hop: HopRequest | undefined, { response, ...head }: ClientResponse): Promise<HopRequest> {
    const from = hop ?? firstRequest(this.#request);
    const { maxRedirects = MAX_REDIRECTS, hooks } = this.#request;
    if (this.#redirectUrls.length >= maxRedirects) {
      const url = urlWithoutUserinfo(from.url.href);
      throw new Error(`Expected at most ${maxRedirects} redirects, got another one from ${url}`);
    }
    const next = redirectedRequest(from, head);
    const updated: UpdatedRequest = { url: next.url, headers: Object.fromEntries(next.headers) };
    for (const hook of hooks?.beforeRedirect ?? []) await hook(updated, response);
    // Crawlee stores the cookies of the response, and sets `Cookie` for the next hop from its session.
    this.#onRedirect?.(response, updated);
    if (updated.headers['Cookie'] !== undefined) delete updated.headers['cookie'];
    this.#headers = updated.headers;
    const url = new URL(updated.url);
    this.#redirectUrls.push(url);
    return { ...next, url };
  }

  discard({ response }: ClientResponse): void {
    response.stream?.destroy();
  }

  failed(error: unknown, request: GuardedRequest): unknown {
    // With a proxy, the proxy may have failed rather than the site.
    if (this.#request.proxyUrl === undefined) request.fail(error);
    else request.finish();
    return error;
  }

  respond({ response }: ClientResponse, request: GuardedRequest): HttpResponse {
    // That of a page is in flight until its handler has ended.
    if (this.#steps.onRequest === undefined) request.finish();
    else if (isNodeStream(response.stream) && request.watchesBody) {
      const fail = (error: unknown): void => request.fail(error);
      observeNodeStream(response.stream, { onBodyRead: ignore, finish: ignore, fail });
    }
    return Object.defineProperty(response, 'redirectUrls', {
      value: this.#redirectUrls,
      configurable: true,
    });
  }

  refuse(refusal: Refusal): never {
    this.#steps.onRefusal?.(refusal);
    throw refusal;
  }
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
  return redirectUrls.length > 0 || (url !== undefined && bareUrl(url) !== bareUrl(requested));
}

function followsUnchecked(what: string): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    `Expected an \`httpClient\` that leaves redirects to the guard, but it ${what} unchecked; ` +
      'turn redirects off where the client is created (`new ImpitHttpClient({ followRedirects: false })`)',
  );
}
