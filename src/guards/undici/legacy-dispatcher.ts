import { RobotsInvalidOptionsError } from '../../core/base/index.ts';

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
export function assertServed(dispatch: (request: never, handler: never) => boolean): void {
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
export function isLegacyHandler(handler: object): handler is LegacyHandler {
  return !('onRequestStart' in handler) && typeof Reflect.get(handler, 'onError') === 'function';
}

/** The error for a dispatcher of undici 6. */
export function legacyDispatcher(): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    'Expected robotsInterceptor to be composed with a dispatcher of undici 7 or 8, got one of undici 6 ' +
      '(so are the global dispatcher and the fetch of Node 20 and 22); compose it with an `Agent` of undici 7, ' +
      'or wrap a fetch with `guardFetch`',
  );
}
