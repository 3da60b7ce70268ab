import { stringify } from 'node:querystring';
import { setImmediate } from 'node:timers/promises';
import type { Decision } from '../decision.ts';
import { RobotsInvalidOptionsError } from '../errors.ts';
import { OWN_REQUEST } from '../fetch/transport.ts';
import { Guard, type GuardClient } from './guard.ts';
import { ignoredBecause } from './ignore.ts';
import { assertThrowing, type ThrowingGuardOptions } from './options.ts';
import { refusal } from './refusal.ts';
import { abortedController, type AbortSource, signalOf } from './undici-abort.ts';

export type { GuardClient } from './guard.ts';
export type { RobotsInit } from './ignore.ts';
export type { IgnoredRequest, ThrowingGuardOptions } from './options.ts';

/** `dispatch` of an undici Dispatcher, of version 7 or 8. */
type DispatchLike = (options: never, handler: never) => boolean;

/** What the guard reads of undici's `DispatchOptions`. */
interface RequestOptions {
  readonly origin?: string | URL;
  readonly path: string;
  readonly method?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: unknown;
  readonly signal?: AbortSource | null;
  readonly robots?: unknown;
  readonly [OWN_REQUEST]?: boolean;
}

/** What the guard calls of undici's `DispatchHandler`. */
interface ErrorHandler {
  onResponseError?(controller: unknown, error: unknown): void;
}

/**
 * An interceptor for `dispatcher.compose(...)`: each request that passes is held against the robots.txt of its
 * origin before it is sent. Works with undici 7 and 8.
 *
 * Of the interceptors given to `compose` the *last* is called first. The only right order is
 * `compose(dns, guard, retry, redirect)`: a redirect interceptor given before the guard follows redirects below
 * it, where the guard sees none of them; a dns interceptor given after it hides the name of the host.
 *
 * `request` and `stream` reject with `RobotsDisallowedError` (`ERR_ROBOTS_DISALLOWED`) or `RobotsUnreachableError`
 * (`ERR_ROBOTS_UNREACHABLE`, with `retryAt`); `fetch` with `TypeError: fetch failed`, whose `cause` is that error.
 * Requests that carry `robots: { ignore: true, because }` among their options are sent regardless.
 *
 * Let the client share the connections without the guard: `new RobotsClient({ dispatcher: agent })` beside
 * `agent.compose(robotsInterceptor(robots))`. A page then goes through the connection robots.txt came by.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 *
 * @example
 * ```ts
 * import { Agent, interceptors, request } from 'undici';
 * import { RobotsClient } from 'canfetch';
 * import { robotsInterceptor } from 'canfetch/undici';
 *
 * const agent = new Agent();
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)', dispatcher: agent });
 * const dispatcher = agent.compose(
 *   robotsInterceptor(robots),
 *   interceptors.redirect({ maxRedirections: 20 }),
 * );
 * const { body } = await request('https://example.com/page', { dispatcher });
 * ```
 */
export function robotsInterceptor(
  client: GuardClient,
  options: ThrowingGuardOptions = {},
): <Dispatch extends DispatchLike>(dispatch: Dispatch) => Dispatch {
  assertThrowing(options);
  const guard = new Guard(client, options);
  return <Dispatch extends DispatchLike>(next: Dispatch): Dispatch => {
    const dispatch = next as unknown as (request: RequestOptions, handler: ErrorHandler) => boolean;
    // `compose` looks at the number of parameters.
    const guarded = (request: RequestOptions, handler: ErrorHandler): boolean => {
      // A tunnel is no request for a page; what is sent through it passes here by itself.
      if (request.method === 'CONNECT' || request[OWN_REQUEST] === true) return dispatch(request, handler);
      const fail = (error: unknown): void => handler.onResponseError?.(abortedController(error), error);
      try {
        const url = urlOf(request);
        const because = ignoredBecause(request.robots);
        const { signal, release } = signalOf(request.signal);
        const verdict = guard.refuses(url, { signal, because });
        if (verdict === undefined) {
          release();
          return dispatch(request, handler);
        }
        admitted(verdict, signal)
          .finally(release)
          .then(() => dispatch(request, handler))
          .catch(fail);
      } catch (error) {
        // undici's own callers are not ready yet for an error from within `dispatch`.
        queueMicrotask(() => fail(error));
      }
      // The answer of a dispatcher that takes further requests.
      return true;
    };
    return guarded as unknown as Dispatch;
  };
}

/** Returns when a verdict that had to be waited for lets the request go. */
async function admitted(
  verdict: Decision | Promise<Decision | undefined>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const refused = await verdict;
  if (refused !== undefined) throw refusal(refused);
  // undici frees the connection robots.txt came by in an immediate of its own; the page is to go through it.
  await setImmediate();
  signal?.throwIfAborted();
}

function urlOf({ origin, path, query, headers }: RequestOptions): URL {
  if (origin === undefined) {
    throw new RobotsInvalidOptionsError(
      `Expected a request to name its \`origin\`, so that its robots.txt is known, got ${JSON.stringify(path)} alone`,
    );
  }
  // Not `new URL(path, origin)`: there a path of "//other.example/" is another host.
  const url = new URL(path.startsWith('/') ? new URL(origin).origin + path : path);
  if (query !== undefined && query !== null) {
    const search = stringify(query);
    if (search !== '') url.search = search;
  }
  // The mark of `compose(guard, dns)`: an address in the place of the name, which is in the header now.
  const host = headerOf(headers, 'host');
  if (host !== undefined && isAddress(url.hostname) && host.toLowerCase() !== url.host) {
    throw new RobotsInvalidOptionsError(
      `Expected the origin of a request to be a site, got ${url.origin} for host ${JSON.stringify(host)}; ` +
        'compose(dns, guard, …) lets the guard see the name',
    );
  }
  return url;
}

function isAddress(hostname: string): boolean {
  return hostname.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(hostname);
}

/** undici takes header fields as an object, as a flat list, or as pairs. */
function headerOf(headers: unknown, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  let fields: readonly (readonly [unknown, unknown])[];
  if (Array.isArray(headers)) {
    fields = headers.flatMap((item: unknown, at) => (at % 2 === 0 ? [[item, headers[at + 1]] as const] : []));
  } else if (Symbol.iterator in headers) {
    fields = [...(headers as Iterable<[unknown, unknown]>)];
  } else {
    fields = Object.entries(headers);
  }
  for (const [key, value] of fields) if (String(key).toLowerCase() === name) return String(value);
  return undefined;
}
