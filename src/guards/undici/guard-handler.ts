import { isRedirect } from '../../core/fetch/location.ts';
import type { GuardedRequest } from '../shared/guarded-request.ts';
import type { NodeHeaders } from '../shared/headers.ts';
import { GUARDED_REQUEST, markRetryAt } from '../shared/not-now.ts';

/** The part of undici's `DispatchHandler` that receives the response. */
export interface ResponseHandler {
  onRequestStart?(controller: unknown, context: unknown): void;
  onRequestUpgrade?(controller: unknown, status: number, headers: NodeHeaders, socket: unknown): void;
  onResponseStart?(controller: unknown, status: number, headers: NodeHeaders, statusMessage?: string): void;
  onResponseData?(controller: unknown, chunk: unknown): void;
  onResponseEnd?(controller: unknown, trailers: unknown): void;
  onResponseError?(controller: unknown, error: unknown): void;
}

/** The part of undici's `DispatchController` that is used. */
interface Controller {
  readonly paused?: boolean;
  abort(reason: unknown): void;
}

/**
 * Requests whose response was a redirect, by their handler. undici's redirect interceptor sends the next request with the
 * same handler, if nothing between it and the guard wraps it.
 */
export type RedirectedRequests = WeakMap<ResponseHandler, GuardedRequest>;

/** Passes all events to `handler`, and takes a request of the guard through its states. */
export class GuardHandler implements ResponseHandler {
  /** Whether an event has come. A handler may dispatch a further request from then on. */
  hasEvents = false;
  readonly #handler: ResponseHandler;
  readonly #redirected: RedirectedRequests;
  readonly #started: GuardedRequest;
  /** Whether a part of the body has waited for its reader. */
  #hasPaused = false;
  /** Aborts the request at the end of its time. */
  readonly #limit: AbortSignal | undefined;
  #controller: Controller | undefined;

  constructor(handler: ResponseHandler, redirected: RedirectedRequests, started: GuardedRequest) {
    this.#handler = handler;
    this.#redirected = redirected;
    this.#started = started;
    this.#limit = started.limitTime();
    this.#limit?.addEventListener('abort', () => this.#onTimeout());
  }

  #onTimeout(): void {
    const reason: unknown = this.#limit?.reason;
    if (this.#controller !== undefined) this.#controller.abort(reason);
    // It waits for a connection.
    else fail(this.#handler, reason);
  }

  onRequestStart(controller: unknown, context: unknown): void {
    this.hasEvents = true;
    if (this.#limit?.aborted === true) return (controller as Controller).abort(this.#limit.reason);
    this.#controller = controller as Controller;
    const started = this.#started;
    // Redirect interceptors copy the context, and `request` returns it.
    const marked = started.isInFlight ? { ...Object(context), [GUARDED_REQUEST]: started } : context;
    this.#handler.onRequestStart?.(controller, marked);
  }

  onRequestUpgrade(controller: unknown, status: number, headers: NodeHeaders, socket: unknown): void {
    this.#started.finish();
    this.#handler.onRequestUpgrade?.(controller, status, headers, socket);
  }

  onResponseStart(controller: unknown, status: number, headers: NodeHeaders, statusMessage?: string): void {
    this.hasEvents = true;
    // RFC 9110 §15.2: "A client MUST be able to parse one or more 1xx responses received prior to a final response".
    if (status >= 200) {
      const refusal = this.#onHeaders(status, headers);
      if (refusal !== undefined) {
        (controller as Controller).abort(refusal);
        return;
      }
    }
    this.#handler.onResponseStart?.(controller, status, headers, statusMessage);
  }

  #onHeaders(status: number, headers: NodeHeaders): Error | undefined {
    const started = this.#started;
    if (isRedirect(status)) this.#redirected.set(this.#handler, started);
    const refusal = started.onResponseHeaders(status, headers);
    markRetryAt(headers, started);
    return refusal;
  }

  onResponseData(controller: unknown, chunk: unknown): void {
    this.#started.onBodyRead();
    this.#handler.onResponseData?.(controller, chunk);
    // undici stops reading when a few dozen kilobytes wait, so more comes only when the body is read.
    if (this.#hasPaused || (controller as Controller).paused !== true) return;
    this.#hasPaused = true;
    this.#started.awaitReader();
  }

  onResponseEnd(controller: unknown, trailers: unknown): void {
    this.#started.finish();
    this.#handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: unknown, error: unknown): void {
    this.hasEvents = true;
    if (this.#limit?.aborted === true && this.#controller === undefined) return;
    this.#started.fail(error);
    this.#handler.onResponseError?.(controller, error);
  }
}

/** Ends a request that was never sent. */
export function fail(handler: ResponseHandler, error: unknown): void {
  handler.onResponseError?.(abortedController(error), error);
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
