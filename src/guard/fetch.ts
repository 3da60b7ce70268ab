import type { Decision } from '../decision.ts';
import { RobotsInvalidOptionsError } from '../errors.ts';
import { Guard, type GuardClient } from './guard.ts';
import { checkGuardOptions, type GuardOptions, type IgnoreRobots } from './options.ts';
import { nextHop, redirects } from './redirect.ts';
import { refusal } from './refusal.ts';
import { carriedOver, type FetchInit, firstHop, isRequest, type Send, sendAsGiven } from './request.ts';
import { refusalResponse } from './response.ts';

export interface GuardFetchOptions extends GuardOptions {
  /**
   * What a refused request comes to. `'throw'`: it rejects. `'response'`: it is answered 403, or 503 with
   * `Retry-After` while robots.txt is unreachable, with `x-robots-reason` and `x-robots-rule` saying why. A
   * function makes the answer itself.
   * @default 'throw'
   */
  readonly onDisallow?: 'throw' | 'response' | ((decision: Decision) => Response | Promise<Response>);
}

/** The fetch that was wrapped, whose `init` may also say why robots.txt is ignored for this one request. */
export type GuardedFetch<Fetch> = Fetch &
  (Fetch extends (input: infer Input, init?: infer Init) => infer Result
    ? (input: Input, init?: Init & { readonly robots?: IgnoreRobots }) => Result
    : unknown);

/**
 * Wraps a `fetch`: each request, and each redirect it meets, is held against the robots.txt of its own origin
 * before it is sent. Everything else is as the wrapped fetch does it.
 *
 * A request that may not be made (unless `onDisallow` says otherwise) rejects with `RobotsDisallowedError` (`ERR_ROBOTS_DISALLOWED`) or
 * `RobotsUnreachableError` (`ERR_ROBOTS_UNREACHABLE`, with `retryAt`). `decision` tells about the hop refused.
 *
 * Redirects are followed here, by the steps of the Fetch standard. `redirect: 'manual'` and `'error'` are left to
 * the wrapped fetch, which then makes a single request.
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
  options: GuardFetchOptions = {},
): GuardedFetch<Fetch> {
  if (typeof fetch !== 'function') {
    throw new RobotsInvalidOptionsError(
      `Expected the first argument to be a fetch function, got ${typeof fetch}`,
    );
  }
  checkGuardOptions(options, { onDisallow: ["'throw', 'response' or a function", isOnDisallow] });
  const { onDisallow = 'throw' } = options;
  const guard = new Guard(client, options);
  // What is called is whatever was handed over; what it takes and gives is held to the Fetch standard.
  const send = fetch as unknown as Send;

  const guarded = async (input: unknown, given: RobotsInit = {}): Promise<Response> => {
    const { robots, ...init } = given ?? {};
    const request = isRequest(input) ? input : undefined;
    const url = new URL(request?.url ?? String(input));
    const signal = init.signal ?? request?.signal ?? undefined;
    /** The answer to give instead of asking the site for `hop`. */
    const instead = async (hop: URL): Promise<Response | undefined> => {
      if (!guard.concerns(hop, robots)) return undefined;
      const decision = await guard.decide(hop, signal);
      if (!guard.refuses(decision)) return undefined;
      if (onDisallow === 'throw') throw refusal(decision);
      const response = await (onDisallow === 'response' ? refusalResponse(decision) : onDisallow(decision));
      return response.url === '' ? at(hop, response) : response;
    };

    const refused = await instead(url);
    if (refused !== undefined) return refused;
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return sendAsGiven(send, input, init);
    const redirect = init.redirect ?? request?.redirect ?? 'follow';
    if (redirect !== 'follow') return observed(guard, url, signal, sendAsGiven(send, input, init));

    let hop = firstHop(url, request, init);
    const sent = sendAsGiven(send, input, { ...init, redirect: 'manual' });
    let response = await observed(guard, url, signal, sent);
    while (redirects(response)) {
      const left = response;
      try {
        hop = nextHop(hop, response);
        const refusedHop = await instead(hop.url);
        if (refusedHop !== undefined) return asRedirected(refusedHop);
      } finally {
        // Nobody reads the answer that only redirects; its socket is free again.
        await left.body?.cancel().catch(() => undefined);
      }
      const { method, headers, body } = hop;
      response = await observed(
        guard,
        hop.url,
        signal,
        send(hop.url.href, {
          ...carriedOver(request),
          ...init,
          method,
          headers,
          body,
          redirect: 'manual',
          ...(signal === undefined ? {} : { signal }),
        }),
      );
    }
    return hop.redirects === 0 ? response : asRedirected(response);
  };
  return guarded as unknown as GuardedFetch<Fetch>;
}

interface RobotsInit extends FetchInit {
  readonly robots?: unknown;
}

function isOnDisallow(value: unknown): boolean {
  return value === 'throw' || value === 'response' || typeof value === 'function';
}

/** Passes on what a request gives, telling the client what it shows of the site. */
async function observed(
  guard: Guard,
  url: URL,
  signal: AbortSignal | undefined,
  sent: Promise<Response>,
): Promise<Response> {
  try {
    const response = await sent;
    guard.report(url, response.status < 500);
    return response;
  } catch (error) {
    // The caller's own abort says nothing of the site.
    if (signal?.aborted !== true) guard.report(url, false);
    throw error;
  }
}

/** The last answer of a chain. Its `url` is right already; `redirected`, also of clones, is not. */
function asRedirected(response: Response): Response {
  const clone = response.clone.bind(response);
  return Object.defineProperties(response, {
    redirected: { value: true, configurable: true },
    clone: { value: () => asRedirected(clone()), configurable: true },
  });
}

/** An answer made here says what it answers; the standard cuts the fragment. */
function at(url: URL, response: Response): Response {
  const bare = new URL(url);
  bare.hash = '';
  return Object.defineProperty(response, 'url', { value: bare.href, configurable: true });
}
