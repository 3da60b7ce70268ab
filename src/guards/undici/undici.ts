import { setImmediate } from 'node:timers/promises';
import { OWN_REQUEST } from '../../core/fetch/transport.ts';
import type { RobotsClient } from '../../core/client/index.ts';
import {
  ignoredBecause,
  assertThrowing,
  type GuardOptions,
  guardedTwice,
  type ThrowingGuardOptions,
} from '../shared/options.ts';
import { Guard } from '../shared/guard.ts';
import type { Refusal } from '../../core/client/refusal-errors.ts';
import type { GuardedRequest } from '../shared/guarded-request.ts';
import { sentUrl } from '../../core/url/index.ts';
import { fail, GuardHandler, type RedirectedRequests, type ResponseHandler } from './guard-handler.ts';
import { GUARDED, type GuardMark, type RequestOptions, signalOf, urlOf } from './request.ts';
import { RobotsInvalidOptionsError } from '../../core/base/index.ts';

export { publicOnlyAgent, type PublicOnlyAgentOptions } from '../../core/net/connectors.ts';
export type { RobotsInit, ThrowingGuardOptions } from '../shared/options.ts';

/**
 * `dispatch` of an undici Dispatcher of version 7 or 8. Handlers of undici 6 have no `onRequestStart`, so its
 * `dispatch` does not match this type.
 */
type DispatchLike = (options: never, handler: { onRequestStart?(): void }) => boolean;

/**
 * Makes an interceptor for `dispatcher.compose(...)`. It checks each request against the robots.txt of its origin
 * before it is sent. Works with undici 7 and 8. A dispatcher of undici 6 is refused with `ERR_ROBOTS_INVALID_OPTIONS`
 * when it is composed, or at each request if it cannot be recognized before (`MockAgent`, `ProxyAgent`, one that is
 * already composed).
 *
 * The *last* interceptor given to `compose` is called first. The only right order is
 * `compose(dns, guard, retry, redirect)`: a redirect interceptor given before the guard follows redirects below
 * it, where the guard sees none of them; a dns interceptor given after it hides the name of the host.
 *
 * `request` and `stream` reject with `RobotsDisallowedError` (`ERR_ROBOTS_DISALLOWED`) or `RobotsUnreachableError`
 * (`ERR_ROBOTS_UNREACHABLE`, with `retryAt`); `fetch` with `TypeError: fetch failed`, whose `cause` is that error.
 * Requests that carry `robots: { ignore: true, because }` among their options are sent regardless.
 *
 * Let the client share the connections without the guard: `new RobotsClient({ dispatcher: agent })` beside
 * `agent.compose(robotsInterceptor(robots))`. Pages then reuse the connection of robots.txt.
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
  client: RobotsClient,
  options: ThrowingGuardOptions & Pick<GuardOptions, 'timeoutMs'> = {},
): <Dispatch extends DispatchLike>(dispatch: Dispatch) => Dispatch {
  assertThrowing(options, true);
  const guard = new Guard(client, options, { afterRobotsFetch });
  return <Dispatch extends DispatchLike>(next: Dispatch): Dispatch => {
    assertServed(next);
    const dispatch = next as unknown as GuardedDispatch['dispatch'];
    const guarded = new GuardedDispatch(guard, dispatch);
    // `compose` checks the number of parameters.
    return ((given: RequestOptions, handler: ResponseHandler): boolean =>
      guarded.dispatchGuarded(given, handler)) as unknown as Dispatch;
  };
}

/** A redirect interceptor in between keeps the options, but sends another request, after the first event of this one. */
function isSame({ request, handler }: GuardMark, given: RequestOptions): boolean {
  return !handler.hasEvents && request.path === given.path && request.origin === given.origin;
}

class GuardedDispatch {
  readonly dispatch: (request: RequestOptions, handler: ResponseHandler) => boolean;
  readonly #guard: Guard;
  readonly #redirected: RedirectedRequests = new WeakMap();

  constructor(guard: Guard, dispatch: GuardedDispatch['dispatch']) {
    this.#guard = guard;
    this.dispatch = dispatch;
  }

  /** Returns whether the dispatcher accepts further requests. */
  dispatchGuarded(given: RequestOptions, handler: ResponseHandler): boolean {
    // CONNECT opens a tunnel and requests no page. Requests through the tunnel are dispatched separately.
    if (given.method === 'CONNECT' || given[OWN_REQUEST] === true) return this.dispatch(given, handler);
    if (handler.onRequestStart === undefined && isLegacyHandler(handler)) {
      queueMicrotask(() => handler.onError(legacyDispatcher()));
      return true;
    }
    try {
      const above = given[GUARDED];
      if (above !== undefined && isSame(above, given)) {
        if (above.guard !== this.#guard) throw guardedTwice('a dispatcher');
        return this.dispatch(given, handler);
      }
      const asGiven = urlOf(given);
      const url = sentUrl(asGiven);
      const request = this.#identified(url === asGiven ? given : withUrl(given, url));
      return this.#admitAndSend(request, handler, url);
    } catch (error) {
      // undici's callers cannot handle an error before `dispatch` returns.
      queueMicrotask(() => fail(handler, error));
      return true;
    }
  }

  /** The request is sent synchronously if it need not wait. */
  #admitAndSend(request: RequestOptions, handler: ResponseHandler, url: string): boolean {
    const { signal, release } = signalOf(request.signal);
    const options = { signal, because: ignoredBecause(request.robots) };
    const planned =
      this.#redirected.get(handler)?.redirectedTo(url, options) ?? this.#guard.plan(url, options);
    const send = (refusal: Refusal | undefined): boolean => {
      if (refusal !== undefined) throw refusal;
      planned.start();
      release();
      try {
        return this.#send(request, handler, planned);
      } catch (error) {
        planned.finish();
        throw error;
      }
    };
    try {
      const admitting = planned.admit();
      if (!(admitting instanceof Promise)) return send(admitting);
      admitting.then(send).catch((error: unknown) => {
        release();
        planned.finish();
        fail(handler, error);
      });
      return true;
    } catch (error) {
      release();
      throw error;
    }
  }

  #send(request: RequestOptions, handler: ResponseHandler, started: GuardedRequest): boolean {
    const guarding = new GuardHandler(handler, this.#redirected, started);
    const mark: GuardMark = { request, guard: this.#guard, handler: guarding };
    return this.dispatch({ ...request, [GUARDED]: mark }, guarding);
  }

  /** `request` with the `User-Agent` that it lacks. */
  #identified(request: RequestOptions): RequestOptions {
    const headers = this.#guard.identity?.identified(request.headers) ?? request.headers;
    return headers === request.headers ? request : { ...request, headers };
  }
}

/** `request` for another URL of its origin. */
function withUrl(given: RequestOptions, url: string): RequestOptions {
  const { query: _, ...request } = given;
  const { pathname, search } = new URL(url);
  return { ...request, path: request.path.startsWith('/') ? pathname + search : url };
}

/** undici frees the connection of robots.txt in an immediate. Waiting for it lets the page reuse the connection. */
const afterRobotsFetch = (): Promise<void> => setImmediate();

/** A handler of undici 6. The guard needs only the method that ends a request with an error. */
interface LegacyHandler {
  onError(error: unknown): void;
}

/**
 * Refuses a dispatcher of undici 6. Such a dispatcher calls `onConnect`, `onHeaders` and `onError` of a handler. The
 * interceptor's handlers have `onRequestStart`, `onResponseStart` and `onResponseError` instead, so no request would
 * ever end.
 *
 * The version of a `dispatch` function cannot be read, so it is called with an invalid request. An agent, a pool and a
 * client send nothing, and call the error method that their version has. Dispatchers that throw instead (`MockAgent`,
 * `ProxyAgent`, one that is already composed) are recognized by the handler of their first request: see
 * {@link isLegacyHandler}.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
function assertServed(dispatch: (request: never, handler: never) => boolean): void {
  // `compose` passes the dispatcher's own method bound. Other functions may have side effects, so they are not called.
  if (dispatch.name !== 'bound dispatch') return;
  let isLegacy = false;
  let isServed = false;
  const handler = {
    onConnect: () => undefined,
    onError: () => void (isLegacy = true),
    onRequestStart: () => undefined,
    onResponseError: () => void (isServed = true),
  };
  try {
    Reflect.apply(dispatch, undefined, [undefined, handler]);
  } catch {
    return;
  }
  if (isLegacy && !isServed) throw legacyDispatcher();
}

/** Whether `handler` is one of undici 6. From version 7 on, `compose` gives each handler an `onRequestStart`. */
function isLegacyHandler(handler: object): handler is LegacyHandler {
  return !('onRequestStart' in handler) && typeof Reflect.get(handler, 'onError') === 'function';
}

/** The error for a dispatcher of undici 6. */
function legacyDispatcher(): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    'Expected robotsInterceptor to be composed with a dispatcher of undici 7 or 8, got one of undici 6 ' +
      '(so are the global dispatcher and the fetch of Node 20 and 22); compose it with an `Agent` of undici 7, ' +
      'or wrap a fetch with `guardFetch`',
  );
}
