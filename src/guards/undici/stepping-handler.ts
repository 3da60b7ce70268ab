import { isRedirect } from '../../core/fetch/redirect.ts';
import type { NodeHeaders } from '../shared/answer.ts';
import type { Guard } from '../shared/guard.ts';
import { Hop } from '../shared/hop.ts';

/** The part of undici's `DispatchHandler` that receives the response. */
export interface ResponseHandler {
  onRequestStart?(controller: unknown, context: unknown): void;
  onRequestUpgrade?(controller: unknown, status: number, headers: NodeHeaders, socket: unknown): void;
  onResponseStart?(controller: unknown, status: number, headers: NodeHeaders, statusMessage?: string): void;
  onResponseData?(controller: unknown, chunk: unknown): void;
  onResponseEnd?(controller: unknown, trailers: unknown): void;
  onResponseError?(controller: unknown, error: unknown): void;
}

/** A request whose events a {@link SteppingHandler} passes on. */
interface SentRequest {
  readonly url: string;
  /** The request in the steps of the guard; `undefined` for one that memory alone allowed. */
  readonly hop: Hop | undefined;
  /** The origin that `Guard.allowedOrigin` returned, if it did. */
  readonly origin: string | undefined;
}

/**
 * By the handler of a request whose answer was a redirect: that request. undici's redirect interceptor sends the next
 * request with the same handler, if nothing between it and the guard wraps it.
 */
export type RedirectedHops = WeakMap<ResponseHandler, Hop>;

/** Passes all events to `handler`, and takes the steps `look` and `record` with them. */
export class SteppingHandler implements ResponseHandler {
  readonly #handler: ResponseHandler;
  readonly #guard: Guard;
  readonly #redirected: RedirectedHops;
  readonly #sent: SentRequest;
  #hasAnswered = false;

  constructor(handler: ResponseHandler, guard: Guard, redirected: RedirectedHops, sent: SentRequest) {
    this.#handler = handler;
    this.#guard = guard;
    this.#redirected = redirected;
    this.#sent = sent;
  }

  onRequestStart(controller: unknown, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onRequestUpgrade(controller: unknown, status: number, headers: NodeHeaders, socket: unknown): void {
    this.#record();
    this.#handler.onRequestUpgrade?.(controller, status, headers, socket);
  }

  onResponseStart(controller: unknown, status: number, headers: NodeHeaders, statusMessage?: string): void {
    // RFC 9110 §15.2: "A client MUST be able to parse one or more 1xx responses received prior to a final response".
    if (status >= 200) {
      this.#hasAnswered = true;
      const { url, hop, origin } = this.#sent;
      if (isRedirect(status)) this.#redirected.set(this.#handler, hop ?? this.#unsteppedHop(url));
      if (origin !== undefined) this.#guard.reports.answered(url, status, headers, origin);
      const refusal = hop && this.#guard.look(hop, status, headers);
      if (refusal !== undefined) {
        (controller as { abort(reason: Error): void }).abort(refusal);
        return;
      }
    }
    this.#handler.onResponseStart?.(controller, status, headers, statusMessage);
  }

  onResponseData(controller: unknown, chunk: unknown): void {
    this.#handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(controller: unknown, trailers: unknown): void {
    this.#record();
    this.#handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: unknown, error: unknown): void {
    const { url, hop } = this.#sent;
    if (hop !== undefined) this.#guard.fail(hop, error);
    // A site whose body breaks off has answered, so it is reachable.
    else if (!this.#hasAnswered) this.#guard.reports.failed(url, error, undefined);
    this.#handler.onResponseError?.(controller, error);
  }

  #unsteppedHop(url: string): Hop {
    return this.#redirected.get(this.#handler)?.redirectedTo(url) ?? new Hop(url);
  }

  #record(): void {
    const { hop } = this.#sent;
    if (hop !== undefined) this.#guard.record(hop);
  }
}
