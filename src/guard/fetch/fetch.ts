import type { Decision } from '../../decision/index.ts';
import { RobotsInvalidOptionsError } from '../../base/index.ts';
import type { GuardClient } from '../client.ts';
import { Guard, reachesSite } from '../guard.ts';
import type { TakenSlot } from '../../pacing/index.ts';
import { identified, initNaming } from './identified.ts';
import { ignoredBecause } from '../ignore.ts';
import type { GuardOptions } from '../options.ts';
import { refusalFor } from '../refusal.ts';
import { acceptingForeignRequests, type Send } from './foreign-requests.ts';
import { addressChecks, type PageHops } from './page-addresses.ts';
import { isRedirect } from '../../fetch/redirect.ts';
import { firstHop, type Hop, nextHop, redirects } from './redirect.ts';
import { type Call, membersOf, NO_INIT, parseUrl, readCall, type RequestLike } from './request.ts';
import {
  type Arrival,
  arrivedAt,
  discard,
  refusalResponse,
  type ResponseLike,
  usageHeaders,
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
  const guard = new Guard(client, options, true);
  const send = acceptingForeignRequests(fetch);
  const hopsOf = addressChecks(options);
  const { identity } = guard;
  const plainInit = identity?.fills === true ? initNaming(identity.userAgent) : NO_INIT;
  const plainHop = Object.freeze({ ...plainInit, redirect: 'manual' });

  /** Any call; `sent` is its first response, when its first request was sent already. */
  const checked = async (input: unknown, init: unknown, sent?: ResponseLike): Promise<unknown> => {
    const given = readCall(input, init, plainInit);
    const call = identity === undefined || given.init === plainInit ? given : identified(given, identity);
    const because = ignoredBecause(call.robots);
    const { signal } = call;
    let refused: Decision | undefined;
    let hops: PageHops | undefined;
    let slot: TakenSlot | undefined;
    const onSlot = (taken: TakenSlot): void => void (slot = taken);
    let decided: Decision | undefined;
    const onDecision = guard.hasPurpose ? (decision: Decision): void => void (decided = decision) : undefined;
    try {
      if (!reachesSite(call.url)) return send(call.input, call.init);
      if (sent === undefined) {
        if (hopsOf !== undefined) {
          hops = await hopsOf(call);
          await admit(hops, guard, new URL(call.url), signal);
        }
        const verdict = guard.refusesSite(call.url, { signal, because, onSlot, onDecision });
        refused = verdict instanceof Promise ? await verdict : verdict;
        if (slot?.leaveNow() === false) await slot.leave(signal);
      }
    } catch (error) {
      parseUrl(call.url);
      throw error;
    }
    if (refused !== undefined) {
      return refuse(guard, refused, arrivalOf(call.url));
    }
    if (call.redirect !== 'follow') {
      const response = await sendOnly(guard, send, call, hops);
      const unusable = unusableFor(guard, decided, response);
      return unusable === undefined ? response : refuse(guard, unusable, arrivalOf(call.url));
    }

    let hop: Hop | undefined;
    let url = call.url;
    let next = call.input;
    let nextInit: object = call.init === plainInit ? plainHop : { ...call.init, redirect: 'manual' };
    let response = sent;
    for (;;) {
      if (response === undefined) {
        try {
          response = await sendBy(hops, send, url, next, nextInit);
        } catch (error) {
          guard.reports.failed(url, error, signal);
          throw error;
        }
        assertUnfollowed(response, url);
        guard.reports.answered(url, response.status, response.headers);
      }
      if (!redirects(response)) {
        const unusable = unusableFor(guard, decided, response);
        if (unusable !== undefined) return refuse(guard, unusable, hop ?? arrivalOf(url));
        return hop === undefined ? response : arrivedAt(response, hop);
      }
      // Release the connection before the decision, which may take a long time.
      discard(response);
      hop = nextHop(hop ?? firstHop(call), response);
      response = undefined;
      if (hops !== undefined) await admit(hops, guard, hop.url, signal);
      decided = undefined;
      const refusedHop = await guard.refuses(hop.url, { signal, because, onSlot, onDecision });
      if (refusedHop !== undefined) return refuse(guard, refusedHop, hop);
      if (slot?.leaveNow() === false) await slot.leave(signal);
      url = next = hop.url.href;
      nextInit = initOf(hop, call);
    }
  };

  /** A call with a URL alone, which memory allows: most calls of a crawler. It allocates less than `checked`. */
  const allowed = async (url: string, origin: string): Promise<unknown> => {
    let response: ResponseLike;
    try {
      response = await send(url, plainHop);
    } catch (error) {
      guard.reports.failed(url, error, undefined);
      throw error;
    }
    assertUnfollowed(response, url);
    const { status } = response;
    guard.reports.originAnswered(origin, status, response.headers);
    return isRedirect(status) ? checked(url, undefined, response) : response;
  };

  return (input, init) => {
    const origin = typeof input === 'string' && init === undefined ? guard.allowedOrigin(input) : undefined;
    return origin === undefined ? checked(input, init) : allowed(input as string, origin);
  };
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

/** The decision that refuses `response` because of its header fields. Its body is then cancelled. */
function unusableFor(
  guard: Guard,
  decided: Decision | undefined,
  response: ResponseLike,
): Decision | undefined {
  if (!guard.hasPurpose || isRedirect(response.status)) return undefined;
  const refused = guard.refusesResponse(decided, usageHeaders(response.headers));
  if (refused !== undefined) discard(response);
  return refused;
}

function arrivalOf(url: string): Arrival {
  return { url: parseUrl(url), redirects: 0, crossedOrigins: false };
}

/** Refuses a request by the option `onDisallow`. */
function refuse(guard: Guard, decision: Decision, arrival: Arrival): unknown {
  const { onDisallow } = guard;
  if (onDisallow === 'throw') throw refusalFor(decision);
  if (onDisallow === 'response') return arrivedAt(refusalResponse(decision, guard.clock), arrival);
  return onDisallow(decision);
}

/** Sends a request with `redirect: 'manual'` or `'error'`, whose redirects are not followed. */
async function sendOnly(
  guard: Guard,
  send: Send,
  call: Call,
  hops: PageHops | undefined,
): Promise<ResponseLike> {
  try {
    const response = await sendBy(hops, send, call.url, call.input, call.init);
    guard.reports.answered(call.url, response.status, response.headers);
    return response;
  } catch (error) {
    // With 'error' a redirect fails like a network error, although the site has answered. So it is not reported.
    if (call.redirect !== 'error') guard.reports.failed(call.url, error, call.signal);
    throw error;
  }
}

/** Sends a request under its address policy, if it has one. */
function sendBy(
  hops: PageHops | undefined,
  send: Send,
  url: string,
  input: string | RequestLike,
  init: object,
): Promise<ResponseLike> {
  return hops === undefined
    ? send(input, init)
    : hops.send(new URL(url), (way) => send(input, { ...init, ...way }));
}

/** @throws RobotsAddressRefusedError (`ERR_ROBOTS_ADDRESS_REFUSED`) */
function admit(hops: PageHops, guard: Guard, url: URL, signal: AbortSignal | undefined): Promise<void> {
  return hops.admit(url, () => guard.knows(url), signal);
}

/** The init of a hop: the caller's, with the changes of the redirect. */
function initOf({ method, headers, body }: Hop, { request, init }: Call): object {
  return {
    ...(request === undefined ? {} : membersOf(request)),
    ...init,
    method,
    headers: [...headers],
    body,
    redirect: 'manual',
  };
}
