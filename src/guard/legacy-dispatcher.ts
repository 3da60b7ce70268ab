import { RobotsInvalidOptionsError } from '../base/index.ts';

/** The one method of undici's handlers before version 7 that is needed to end a request. */
interface LegacyHandler {
  onError(error: unknown): void;
}

/**
 * Refuses a dispatcher of undici 6. It calls `onConnect`, `onHeaders` and `onError` of a handler; the handlers that the
 * interceptor passes on have `onRequestStart`, `onResponseStart` and `onResponseError`, so that no request would ever end.
 *
 * A function does not tell whose it is, so it is called with a request that is none: an agent, a pool and a client of any
 * version send nothing and tell the handler, by the method their version knows. Those that throw instead (`MockAgent`,
 * `ProxyAgent`, one that is composed already) are known by the handler of their first request: see
 * {@link isLegacyHandler}.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function assertServed(dispatch: (request: never, handler: never) => boolean): void {
  // What `compose` passes on of a dispatcher itself. Functions of others are not called for nothing.
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

/** Whether `handler` is one of undici 6. From version 7 on `compose` gives each handler the method `onRequestStart`. */
export function isLegacyHandler(handler: object): handler is LegacyHandler {
  return !('onRequestStart' in handler) && typeof Reflect.get(handler, 'onError') === 'function';
}

/** Why a dispatcher of undici 6 is refused. */
export function legacyDispatcher(): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    'Expected robotsInterceptor to be composed with a dispatcher of undici 7 or 8, got one of undici 6 ' +
      '(so are the global dispatcher and the fetch of Node 20 and 22); compose it with an `Agent` of undici 7, ' +
      'or wrap a fetch with `guardFetch`',
  );
}
