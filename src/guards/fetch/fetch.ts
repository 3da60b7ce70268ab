import { RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { surviveManyCodings } from '../../core/fetch/content-coding.ts';
import { isRedirect } from '../../core/fetch/redirect.ts';
import type { GuardClient } from '../shared/client.ts';
import { ignoredBecause } from '../shared/ignore.ts';
import type { GuardOptions } from '../shared/options.ts';
import type { Refusal } from '../shared/refusal.ts';
import { redirects } from '../shared/answer.ts';
import { Guard, reachesSite } from '../shared/guard.ts';
import { Hop } from '../shared/hop.ts';
import { addressChecks } from './page-addresses.ts';
import type { PageHops } from './page-hops.ts';
import { firstRequest, type HopRequest, redirectedRequest } from './redirect.ts';
import {
  acceptingForeignRequests,
  type Call,
  membersOf,
  NO_INIT,
  parseUrl,
  readCall,
  type Send,
} from './request.ts';
import { type Arrival, arrivedAt, discard, refusalResponse, type ResponseLike } from './response.ts';

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
 * Redirects are followed here, by the steps of the Fetch standard. `redirect: 'manual'` and `'error'` are left to
 * the wrapped fetch, which then makes a single request.
 *
 * Three things differ from the wrapped fetch when redirects are followed:
 * - The body of a `Request` cannot be sent a second time, so a 307 or 308 is a `TypeError`; pass URL and init instead.
 *   A POST that a 301 or 302 turns into a GET is followed, even when the `Request` was made from a stream.
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
  client: GuardClient,
  options?: GuardFetchOptions<Awaited<ReturnType<Fetch>>>,
): Fetch;
export function guardFetch(
  fetch: Send,
  client: GuardClient,
  options: GuardFetchOptions = {},
): (input: unknown, init?: unknown) => Promise<unknown> {
  if (typeof fetch !== 'function') {
    throw new RobotsInvalidOptionsError(
      `Expected the first argument to be a fetch function, got ${typeof fetch}`,
    );
  }
  const guard = new Guard(client, options, { seesHeaders: true });
  surviveManyCodings();
  const guarded = new GuardedFetch(fetch, guard, options);
  return (input, init) => {
    const origin = typeof input === 'string' && init === undefined ? guard.allowedOrigin(input) : undefined;
    return origin === undefined ? guarded.fetch(input, init) : guarded.fetchAllowed(input as string, origin);
  };
}

class GuardedFetch {
  readonly #guard: Guard;
  readonly #send: Send;
  readonly #addressesOf: ReturnType<typeof addressChecks>;
  /** The `init` of a call without one. */
  readonly #plainInit: Call['init'];
  readonly #plainHop: object;

  constructor(fetch: Send, guard: Guard, options: GuardFetchOptions) {
    this.#guard = guard;
    this.#send = acceptingForeignRequests(fetch);
    this.#addressesOf = addressChecks(options);
    const { identity } = guard;
    this.#plainInit =
      identity?.fills === true
        ? Object.freeze({ headers: Object.freeze({ 'user-agent': identity.userAgent }) })
        : NO_INIT;
    this.#plainHop = Object.freeze({ ...this.#plainInit, redirect: 'manual' });
  }

  /**
   * A call with a URL alone, which memory allows: most calls of a crawler. It takes no steps, and allocates less than
   * {@link fetch}.
   */
  async fetchAllowed(url: string, origin: string): Promise<unknown> {
    const { reports } = this.#guard;
    let response: ResponseLike;
    try {
      response = await this.#send(url, this.#plainHop);
    } catch (error) {
      reports.failed(url, error, undefined);
      throw error;
    }
    assertUnfollowed(response, url);
    const { status } = response;
    reports.answered(url, status, response.headers, origin);
    return isRedirect(status)
      ? this.#follow(this.#read(url, undefined), new Hop(url), response, undefined)
      : response;
  }

  /** Any call. Its first request is sent synchronously when memory allows it. */
  async fetch(input: unknown, init: unknown): Promise<unknown> {
    const call = this.#read(input, init);
    const hop = new Hop(call.url, { signal: call.signal, because: ignoredBecause(call.robots) });
    let addresses: PageHops | undefined;
    let refusal: Refusal | undefined;
    try {
      if (!reachesSite(call.url)) return this.#send(call.input, call.init);
      if (this.#addressesOf !== undefined) {
        addresses = await this.#addressesOf(call);
        await this.#admitAddress(addresses, new URL(call.url), hop);
      }
      const admitted = this.#guard.admit(hop);
      refusal = admitted instanceof Promise ? await admitted : admitted;
    } catch (error) {
      parseUrl(call.url);
      throw error;
    }
    if (refusal !== undefined) return this.#refuse(refusal, arrivalOf(call.url));
    const follows = call.redirect === 'follow';
    const response = await this.#sendHop(hop, addresses, follows, [call.input, this.#initOf(call)]);
    const unwanted = this.#look(hop, response);
    if (unwanted !== undefined) return this.#refuse(unwanted, arrivalOf(call.url));
    return follows && isRedirect(response.status) ? this.#follow(call, hop, response, addresses) : response;
  }

  /** Follows the redirects that begin with the answer to `firstHop`, by the steps of the Fetch standard. */
  async #follow(
    call: Call,
    firstHop: Hop,
    firstResponse: ResponseLike,
    addresses: PageHops | undefined,
  ): Promise<unknown> {
    let hop = firstHop;
    let response = firstResponse;
    let request: HopRequest | undefined;
    while (redirects(response.status, response.headers)) {
      // Release the connection before the decision, which may take a long time.
      discard(response);
      const next = redirectedRequest(request ?? firstRequest(call), response);
      request = next;
      hop = hop.redirectedTo(next.url, { signal: call.signal, because: ignoredBecause(call.robots) });
      if (addresses !== undefined) await this.#admitAddress(addresses, next.url, hop);
      const refusal = await this.#guard.admit(hop);
      if (refusal !== undefined) return this.#refuse(refusal, next);
      response = await this.#sendHop(hop, addresses, true, [next.url.href, initOf(next, call)]);
      const unwanted = this.#look(hop, response);
      if (unwanted !== undefined) return this.#refuse(unwanted, next);
    }
    return request === undefined ? response : arrivedAt(response, request);
  }

  #read(input: unknown, init: unknown): Call {
    const call = readCall(input, init, this.#plainInit);
    const { identity } = this.#guard;
    if (identity === undefined || call.init === this.#plainInit) return call;
    const given = call.init.headers ?? call.request?.headers;
    const headers = identity.identified(call.url, given);
    return headers === given ? call : { ...call, init: { ...call.init, headers } };
  }

  /** The init of the first request of a call. */
  #initOf(call: Call): object {
    if (call.redirect !== 'follow') return call.init;
    return call.init === this.#plainInit ? this.#plainHop : { ...call.init, redirect: 'manual' };
  }

  /** @throws RobotsAddressRefusedError (`ERR_ROBOTS_ADDRESS_REFUSED`) */
  #admitAddress(addresses: PageHops, url: URL, { options }: Hop): Promise<void> {
    return addresses.admit(url, () => this.#guard.knows(url), options.signal);
  }

  /** Sends a request in its slot, and under its address policy if it has one. */
  async #sendHop(
    hop: Hop,
    addresses: PageHops | undefined,
    follows: boolean,
    [input, init]: readonly [input: Call['input'], init: object],
  ): Promise<ResponseLike> {
    try {
      const leaving = this.#guard.leave(hop);
      if (leaving !== undefined) await leaving;
      const response = await (addresses === undefined
        ? this.#send(input, init)
        : addresses.send(new URL(hop.url), (connection) => this.#send(input, { ...init, ...connection })));
      if (follows) assertUnfollowed(response, String(hop.url));
      return response;
    } catch (error) {
      this.#guard.fail(hop, error);
      throw error;
    }
  }

  /** The refusal of a response because of its header fields. Its body is then cancelled. */
  #look(hop: Hop, response: ResponseLike): Refusal | undefined {
    const refusal = this.#guard.conclude(hop, response.status, response.headers);
    if (refusal !== undefined) discard(response);
    return refusal;
  }

  /** Refuses a request by the option `onDisallow`. */
  #refuse(refusal: Refusal, arrival: Arrival): unknown {
    const { onDisallow, clock } = this.#guard;
    if (onDisallow === 'throw') throw refusal;
    if (onDisallow === 'response') return arrivedAt(refusalResponse(refusal, clock), arrival);
    return onDisallow(refusal.decision, refusal);
  }
}

/** @throws TypeError when the wrapped fetch has followed a redirect, or hides its target. */
function assertUnfollowed(response: ResponseLike, url: string): void {
  if (response.status === 0 && response.type === 'opaqueredirect') {
    discard(response);
    throw opaqueRedirect(url);
  }
  if (!response.redirected) return;
  discard(response);
  throw new TypeError(
    `Expected the guarded fetch to obey \`redirect: 'manual'\`, but it followed a redirect of ${url} unchecked`,
  );
}

/** The error for a redirect whose target is hidden, as `redirect: 'manual'` does in a browser. */
function opaqueRedirect(url: string): TypeError {
  const message =
    `Expected a fetch that shows where ${url} redirects to, so that the target can be checked, got an opaque redirect, ` +
    'as in browsers; request the URL that it redirects to';
  return Object.assign(new TypeError(message), { code: 'ERR_ROBOTS_REDIRECT_OPAQUE' });
}

function arrivalOf(url: string): Arrival {
  return { url: parseUrl(url), redirects: 0, crossedOrigins: false };
}

/** The init of a redirected request: the caller's, with the changes of the redirect. */
function initOf({ method, headers, body }: HopRequest, { request, init }: Call): object {
  return {
    ...(request === undefined ? {} : membersOf(request)),
    ...init,
    method,
    headers: [...headers],
    body,
    redirect: 'manual',
  };
}
