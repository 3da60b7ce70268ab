import { setImmediate } from 'node:timers/promises';
import type { Decision } from '../../decision/index.ts';
import { OWN_REQUEST } from '../../fetch/transport.ts';
import type { TakenSlot } from '../../pacing/index.ts';
import type { GuardClient } from '../client.ts';
import { Guard } from '../guard.ts';
import { ignoredBecause } from '../ignore.ts';
import { assertThrowing, type ThrowingGuardOptions } from '../options.ts';
import { refusalFor } from '../refusal.ts';
import { assertServed, isLegacyHandler, legacyDispatcher } from './legacy-dispatcher.ts';
import { ReportingHandler, type ResponseHandler } from './reporting-handler.ts';
import { identified, type LastSerialised, type RequestOptions, signalOf, urlOf } from './request.ts';

export { publicOnlyAgent, type PublicOnlyAgentOptions } from '../../net/index.ts';
export type { GuardClient } from '../client.ts';
export type { OtherIdentity } from '../identity.ts';
export type { RobotsInit } from '../ignore.ts';
export type { IgnoredRequest, ThrowingGuardOptions } from '../options.ts';

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
  const guard = new Guard(client, options, true);
  const { identity } = guard;
  const last: LastSerialised = { given: '', serialised: '' };
  return <Dispatch extends DispatchLike>(next: Dispatch): Dispatch => {
    assertServed(next);
    const dispatch = next as unknown as (request: RequestOptions, handler: ResponseHandler) => boolean;
    // `compose` checks the number of parameters.
    const guarded = (given: RequestOptions, handler: ResponseHandler): boolean => {
      // CONNECT opens a tunnel and requests no page. Requests through the tunnel are dispatched separately.
      if (given.method === 'CONNECT' || given[OWN_REQUEST] === true) return dispatch(given, handler);
      if (handler.onRequestStart === undefined && isLegacyHandler(handler)) {
        queueMicrotask(() => handler.onError(legacyDispatcher()));
        return true;
      }
      const fail = (error: unknown): void => handler.onResponseError?.(abortedController(error), error);
      try {
        const url = urlOf(given, last);
        const request = identity === undefined ? given : identified(given, url, identity);
        if (request.signal === undefined && request.robots === undefined) {
          const allowed = guard.allowedOrigin(url);
          if (allowed !== undefined) {
            return dispatch(
              request,
              new ReportingHandler(handler, guard, url, undefined, undefined, allowed),
            );
          }
        }
        const because = ignoredBecause(request.robots);
        const { signal, release } = signalOf(request.signal);
        let slot: TakenSlot | undefined;
        const onSlot = (taken: TakenSlot): void => void (slot = taken);
        const decided: { decision?: Decision } | undefined = guard.hasPurpose ? {} : undefined;
        const onDecision = decided && ((decision: Decision): void => void (decided.decision = decision));
        const verdict = guard.refuses(url, { signal, because, afterAsking, onSlot, onDecision });
        const send = (): boolean =>
          dispatch(request, new ReportingHandler(handler, guard, url, signal, decided));
        if (verdict === undefined) {
          release();
          return send();
        }
        admitted(verdict)
          .then(() => (slot?.leaveNow() === false ? slot.leave(signal).then(send) : send()))
          .catch(fail)
          .finally(release);
      } catch (error) {
        // undici's callers cannot handle an error before `dispatch` returns.
        queueMicrotask(() => fail(error));
      }
      // `true` means that the dispatcher accepts further requests.
      return true;
    };
    return guarded as unknown as Dispatch;
  };
}

const nothing = (): void => undefined;

/** The controller of a request that was never sent. Handlers may read it; aborting it has no effect. */
function abortedController(error: unknown): object {
  return {
    aborted: true,
    paused: false,
    reason: error,
    rawHeaders: null,
    rawTrailers: null,
    abort: nothing,
    pause: nothing,
    resume: nothing,
  };
}

/** Resolves when the request is allowed; rejects with the refusal. */
async function admitted(verdict: Decision | Promise<Decision | undefined>): Promise<void> {
  const refused = await verdict;
  if (refused !== undefined) throw refusalFor(refused);
}

/** undici frees the connection of robots.txt in an immediate. Waiting for it lets the page reuse the connection. */
const afterAsking = (): Promise<void> => setImmediate();
