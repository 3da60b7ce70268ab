import { platform } from '#platform';
import { codeOf, orAborted, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { ADDRESS_REFUSED } from '../../core/fetch/failure.ts';
import { OWN_REQUEST } from '../../core/fetch/transport.ts';
import type { RobotsClient } from '../../core/client/index.ts';
import { ignoredBecause, type RobotsInit, type GuardOptions, guardedTwice } from '../shared/options.ts';
import type { Refusal } from '../../core/client/refusal-errors.ts';
import { Guard } from '../shared/guard.ts';
import { GUARDED_REQUEST, markRetryAt } from '../shared/not-now.ts';
import { exchange, type LibraryCall } from '../shared/exchange.ts';
import type { RequestOptions } from '../shared/admission.ts';
import type { GuardedRequest } from '../shared/guarded-request.ts';
import { parseUrl, reachesSite, type HopRequest, redirectedRequest } from '../shared/redirect.ts';
import { dropBody, isNodeStream, isWebStream, observeNodeStream } from '../shared/response-body.ts';
import { sendUntilArrived } from '../shared/enclosing-request.ts';
import { observeWebStream, showsReading } from './page-body.ts';
import { redirects } from '../shared/headers.ts';
import { addressChecks } from './page-addresses.ts';
import type { PageHops } from './page-hops.ts';
import {
  type Call,
  firstRequest,
  type HeadersInput,
  membersOf,
  plainInit,
  readCall,
  type RequestLike,
  type Send,
} from './request.ts';
import {
  type Arrival,
  arrivedAt,
  refusalResponse,
  type ResponseLike,
  assertFetched,
  hopError,
  responseOf,
} from './response.ts';

/** Options of {@link guardFetch}. The wrapped fetch and an `onDisallow` function resolve with a `Result`. */
export type GuardFetchOptions<Result = unknown> = GuardOptions<Result>;

/**
 * Wraps a `fetch`. The guard checks each request, and each redirect it meets, against the robots.txt of its own origin
 * before it is sent. Everything else works as in the wrapped fetch.
 *
 * A request that is refused rejects with `RobotsDisallowedError` (`ERR_ROBOTS_DISALLOWED`) or `RobotsUnreachableError`
 * (`ERR_ROBOTS_UNREACHABLE`, with `retryAt`). Its `decision` is about the hop that was refused. With `onDisallow` it
 * can resolve instead; with `mode: 'report'` refusals are only reported. A single request is sent without a check with
 * `{ robots: { ignore: true, because: '…' } }` in its init (see `RobotsInit`).
 *
 * `fetch` is any function that resolves with a `Response` and follows no redirect with `redirect: 'manual'`. Another library's
 * result, and a redirect that was followed unchecked, reject with `RobotsInvalidOptionsError` (`ERR_ROBOTS_INVALID_OPTIONS`).
 *
 * Redirects are followed here, by the steps of the Fetch standard. `redirect: 'manual'` and `'error'` are left to
 * the wrapped fetch, which then makes a single request.
 *
 * Three things differ from the wrapped fetch when redirects are followed:
 * - The body of a `Request` is sent again after a 307 or 308, even when it was made from a stream.
 * - A dispatcher built into a `Request` serves its first hop only. A dispatcher in `init` serves all hops.
 * - `integrity` is checked for redirect responses too.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 *
 * @example
 * ```ts
 * import { guardFetch, RobotsClient } from 'canfetch';
 *
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
 * const fetchPolitely = guardFetch(fetch, robots);
 * const response = await fetchPolitely('https://example.com/page');
 * ```
 */
export function guardFetch<Fetch extends (input: never, init?: never) => Promise<unknown>>(
  fetch: Fetch,
  client: RobotsClient,
  options?: GuardFetchOptions<Awaited<ReturnType<Fetch>>>,
): Fetch & ((input: Parameters<Fetch>[0], init?: Parameters<Fetch>[1] & RobotsInit) => ReturnType<Fetch>);
export function guardFetch(
  fetch: Send,
  client: RobotsClient,
  options: GuardFetchOptions = {},
): (input: unknown, init?: unknown) => Promise<unknown> {
  if (typeof fetch !== 'function') {
    throw new RobotsInvalidOptionsError(
      `Expected the first argument to be a fetch function, got ${typeof fetch}`,
    );
  }
  const guard = new Guard(client, options);
  if (clientOf.get(fetch) === client) throw guardedTwice('a fetch');
  platform.undici?.surviveManyCodings();
  const guarded = new GuardedFetch(fetch, guard, options);
  const guardedFetch = (input: unknown, init?: unknown): Promise<unknown> => {
    const origin = typeof input === 'string' && init === undefined ? guard.allowedOrigin(input) : undefined;
    return origin === undefined ? guarded.fetch(input, init) : guarded.fetchAllowed(String(input), origin);
  };
  clientOf.set(guardedFetch, client);
  return guardedFetch;
}

/** The client of a guarded fetch. Another client may guard it again: its permits are its own. */
const clientOf = new WeakMap<object, unknown>();

class GuardedFetch {
  readonly #guard: Guard;
  readonly #send: Send;
  readonly #addressesOf: ReturnType<typeof addressChecks>;
  /** What a call without `init` sends. */
  readonly #userAgent: string | undefined;

  constructor(fetch: Send, guard: Guard, options: GuardFetchOptions) {
    this.#guard = guard;
    // Browsers and Workers refuse to call theirs as the method of another object.
    this.#send = (input, init) => fetch(input, init);
    this.#addressesOf = addressChecks(options);
    const { identity } = guard;
    this.#userAgent = identity?.fills === true ? identity.userAgent : undefined;
  }

  /**
   * A call with a URL alone, which memory allows: most calls of a crawler. It takes half of the time that {@link fetch} adds to
   * them.
   */
  async fetchAllowed(url: string, origin: string): Promise<unknown> {
    const { reports, patience } = this.#guard;
    let response: ResponseLike;
    try {
      response = await this.#send(url, plainInit(this.#userAgent));
    } catch (error) {
      reports.failed(url, error, undefined, origin);
      throw hopError(error);
    }
    assertFetched(response, url);
    const { status, headers } = response;
    reports.responded(url, status, headers, origin);
    patience.gavePage(origin);
    if (!redirects(status, headers)) return response;
    dropBody(response);
    const call = new FetchCall(this.#read(url, undefined), this.#guard, this.#send, this.#addressesOf);
    const hop = await call.next(undefined, response);
    return exchange(this.#guard.plan(url).redirectedTo(hop.url, call.options), call, hop);
  }

  /** Any call. Its first request is sent synchronously when memory allows it. */
  fetch(input: unknown, init: unknown): Promise<unknown> {
    try {
      const call = this.#read(input, init);
      if (isOwnRequest(init)) return this.#send(call.input, init);
      const hops = new FetchCall(call, this.#guard, this.#send, this.#addressesOf);
      if (!reachesSite(call.url)) return this.#send(call.input, call.init);
      return exchange(this.#guard.plan(call.url, hops.options), hops).catch((error: unknown) => {
        parseUrl(call.url);
        throw error;
      });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #read(input: unknown, init: unknown): Call {
    const call = readCall(input, init, this.#userAgent);
    const { identity } = this.#guard;
    if (identity === undefined || (typeof input === 'string' && init === undefined)) return call;
    const given = call.init.headers ?? call.request?.headers;
    const headers = identity.identified(given);
    return headers === given ? call : { ...call, init: { ...call.init, headers } };
  }
}

/** One call, hop by hop: redirects are followed by the steps of the Fetch standard. */
class FetchCall implements LibraryCall<HopRequest, ResponseLike, unknown> {
  readonly discard = dropBody;
  readonly options: RequestOptions;
  readonly #call: Call;
  readonly #guard: Guard;
  readonly #send: Send;
  readonly #addressesOf: ReturnType<typeof addressChecks>;
  #addresses: PageHops | undefined;
  /** Has the body of the Request, in case it must be sent again. */
  #clone: RequestLike | undefined;

  constructor(call: Call, guard: Guard, send: Send, addressesOf: ReturnType<typeof addressChecks>) {
    this.#call = call;
    this.options = optionsOf(call);
    this.#guard = guard;
    this.#send = send;
    this.#addressesOf = addressesOf;
  }

  beforeHop(_request: unknown, hop: HopRequest | undefined): Promise<void> | undefined {
    return this.#addressesOf && this.#admitAddress(this.#addressesOf, hop);
  }

  /** @throws RobotsAddressRefusedError (`ERR_ROBOTS_ADDRESS_REFUSED`) */
  async #admitAddress(
    addressesOf: NonNullable<ReturnType<typeof addressChecks>>,
    hop: HopRequest | undefined,
  ): Promise<void> {
    const url = hop?.url ?? new URL(this.#call.url);
    this.#addresses ??= await addressesOf(this.#call);
    try {
      await this.#addresses.admit(url, () => this.#guard.knows(url), this.#call.signal);
    } catch (error) {
      if (codeOf(error) === ADDRESS_REFUSED) this.#guard.reports.addressRefused(url);
      throw error;
    }
  }

  /** Sends a request, under its address policy if it has one. */
  send(hop: HopRequest | undefined, started: GuardedRequest): Promise<ResponseLike> {
    const call = this.#call;
    const addresses = this.#addresses;
    const signal = started.limitTime(call.signal);
    const input = hop === undefined ? call.input : hop.url.href;
    const { isInFlight } = started;
    if (hop === undefined) this.#clone = cloneIfNeeded(call);
    const ofHop = hop === undefined ? this.#firstInit() : initOf(hop, call);
    const init = isInFlight ? { ...ofHop, ...(signal && { signal }), [GUARDED_REQUEST]: started } : ofHop;
    const send = (): Promise<ResponseLike> =>
      addresses === undefined
        ? this.#send(input, init)
        : addresses.send(hop?.url ?? new URL(call.url), (connection) =>
            this.#send(input, { ...init, ...connection }),
          );
    const sending = isInFlight ? sendUntilArrived(started, send) : send();
    // Not every fetch rejects with the reason of its signal.
    return signal === undefined || signal === call.signal ? sending : orAborted(sending, signal);
  }

  #firstInit(): object {
    const { init, redirect } = this.#call;
    return redirect !== 'follow' || init.redirect === 'manual' ? init : { ...init, redirect: 'manual' };
  }

  follows(response: ResponseLike, hop: HopRequest | undefined): boolean {
    if (this.#call.redirect !== 'follow') return false;
    assertFetched(response, hop?.url.href ?? this.#call.url);
    return redirects(response.status, response.headers);
  }

  next(hop: HopRequest | undefined, response: ResponseLike): HopRequest | Promise<HopRequest> {
    const from = hop ?? firstRequest(this.#call);
    if (this.#clone === undefined || from.bodySource !== 'unseen') return redirectedRequest(from, response);
    const next = redirectedRequest({ ...from, bodySource: 'known' }, response);
    return next.body === undefined ? next : this.#withBody(next, this.#clone);
  }

  async #withBody(hop: HopRequest, clone: RequestLike): Promise<HopRequest> {
    const { signal } = this.#call;
    const reading = clone.arrayBuffer();
    return { ...hop, body: await (signal ? orAborted(reading, signal) : reading) };
  }

  failed(error: unknown, request: GuardedRequest): unknown {
    const response = responseOf(error);
    if (response === undefined && isUnsendable(this.#call, request.url, error)) request.withdraw();
    else if (response === undefined) request.fail(error);
    else {
      // A library that rejects a status has seen it: a 429 pauses its site.
      request.onResponseHeaders(response.status, response.headers);
      markRetryAt(response, request);
      request.finish();
    }
    return this.#call.redirect === 'follow' ? hopError(error) : error;
  }

  respond(response: ResponseLike, request: GuardedRequest, hop: HopRequest | undefined): ResponseLike {
    markRetryAt(response, request);
    // axios shows the Request alone.
    markRetryAt(this.#call.request, request);
    return untilBodyEnds(request, hop === undefined ? response : arrivedAt(response, hop));
  }

  /** Refuses a request by the option `onDisallow`. */
  refuse(refusal: Refusal, hop: HopRequest | undefined): unknown {
    const { onDisallow, clock } = this.#guard.settings;
    if (onDisallow === 'throw') throw refusal;
    if (onDisallow !== 'response') return onDisallow(refusal.decision, refusal);
    return arrivedAt(refusalResponse(refusal, clock), hop ?? arrivalOf(this.#call.url));
  }
}

/** Holds the permit of a request until its body has ended, and sees whether it is cut. */
function untilBodyEnds<Response extends ResponseLike>(request: GuardedRequest, response: Response): Response {
  if (!request.watchesBody) return response;
  const { body } = response;
  if (isNodeStream(body)) observeNodeStream(body, request);
  else if (isWebStream(body) && showsReading(response)) observeWebStream(body, request);
  else {
    request.finish();
    return response;
  }
  request.awaitReader();
  return response;
}

/** A Request shows its body once, and not what it was made from. */
function cloneIfNeeded({ request, init, redirect }: Call): RequestLike | undefined {
  const hasBody = (request?.body ?? undefined) !== undefined && (init.body ?? undefined) === undefined;
  return redirect === 'follow' && hasBody ? request?.clone() : undefined;
}

/**
 * Whether the fetch refused the arguments of a call, such as a URL with userinfo. Fetch, "The fetch method": "Let requestObject be
 * the result of invoking the initial value of Request as constructor […]. If this throws an exception, reject p with it and
 * return p."
 */
function isUnsendable({ request, init }: Call, url: string | URL, error: unknown): boolean {
  if (!(error instanceof TypeError) || error.cause !== undefined) return false;
  const body = (init.body ?? undefined) === undefined ? undefined : '';
  try {
    Reflect.construct(Request, [url, { method: request?.method, ...init, body }]);
    return false;
  } catch {
    return true;
  }
}

/** Whether a client fetches a robots.txt, over a `fetch` that is guarded, such as the global one. */
function isOwnRequest(init: unknown): init is object {
  return Reflect.get(Object(init), OWN_REQUEST) === true;
}

const optionsOf = ({ signal, robots, init }: Call): RequestOptions => ({
  signal,
  because: ignoredBecause(robots),
  outer: Reflect.get(init, GUARDED_REQUEST),
});

function arrivalOf(url: string): Arrival {
  return { url: parseUrl(url), redirects: 0, crossedOrigins: false };
}

/** The init of a redirected request: the caller's, with the changes of the redirect. */
function initOf({ method, headers, body }: HopRequest, { request, init }: Call): object {
  return {
    ...(request === undefined ? {} : membersOf(request)),
    ...init,
    method,
    headers: inFormOf(init.headers, headers),
    body,
    redirect: 'manual',
  };
}

/** A function may read an object of fields alone: later hops give it what the first one gave. */
function inFormOf(given: HeadersInput, headers: Headers): HeadersInput {
  if (Array.isArray(given)) return [...headers];
  return Symbol.iterator in Object(given) ? headers : Object.fromEntries(headers);
}
