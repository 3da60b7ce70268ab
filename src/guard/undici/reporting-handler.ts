import type { Decision } from '../../decision/index.ts';
import { isRedirect } from '../../fetch/redirect.ts';
import { fieldsOf, type NodeHeaders, usageHeaders } from '../fetch/response.ts';
import type { Guard } from '../guard.ts';
import { refusalFor } from '../refusal.ts';

/** The part of undici's `DispatchHandler` that receives the response. */
export interface ResponseHandler {
  onRequestStart?(controller: unknown, context: unknown): void;
  onRequestUpgrade?(controller: unknown, status: number, headers: NodeHeaders, socket: unknown): void;
  onResponseStart?(controller: unknown, status: number, headers: NodeHeaders, statusMessage?: string): void;
  onResponseData?(controller: unknown, chunk: unknown): void;
  onResponseEnd?(controller: unknown, trailers: unknown): void;
  onResponseError?(controller: unknown, error: unknown): void;
}

/** Passes all events to `handler`, and reports to the guard whether the site answered and asked for a pause. */
export class ReportingHandler implements ResponseHandler {
  private readonly handler: ResponseHandler;
  private readonly guard: Guard;
  private readonly url: string;
  private readonly signal: AbortSignal | undefined;
  /** The decision that allowed the request, if the guard has a purpose. */
  private readonly decided: { readonly decision?: Decision } | undefined;
  /** The origin, if {@link Guard.allowedOrigin} returned it. */
  private readonly origin: string | undefined;
  private answered = false;

  constructor(
    handler: ResponseHandler,
    guard: Guard,
    url: string,
    signal: AbortSignal | undefined,
    decided: { readonly decision?: Decision } | undefined,
    origin?: string,
  ) {
    this.origin = origin;
    this.handler = handler;
    this.decided = decided;
    this.guard = guard;
    this.url = url;
    this.signal = signal;
  }

  onRequestStart(controller: unknown, context: unknown): void {
    this.handler.onRequestStart?.(controller, context);
  }

  onRequestUpgrade(controller: unknown, status: number, headers: NodeHeaders, socket: unknown): void {
    this.handler.onRequestUpgrade?.(controller, status, headers, socket);
  }

  onResponseStart(controller: unknown, status: number, headers: NodeHeaders, statusMessage?: string): void {
    // RFC 9110 §15.2: "A client MUST be able to parse one or more 1xx responses received prior to a final response".
    if (status >= 200) {
      this.answered = true;
      if (this.origin === undefined) this.guard.reports.answered(this.url, status, fieldsOf(headers));
      else this.guard.reports.originAnswered(this.origin, status, fieldsOf(headers));
      if (this.decided !== undefined && !isRedirect(status)) {
        const refused = this.guard.refusesResponse(this.decided?.decision, usageHeaders(headers));
        if (refused !== undefined) {
          (controller as { abort(reason: Error): void }).abort(refusalFor(refused));
          return;
        }
      }
    }
    this.handler.onResponseStart?.(controller, status, headers, statusMessage);
  }

  onResponseData(controller: unknown, chunk: unknown): void {
    this.handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(controller: unknown, trailers: unknown): void {
    this.handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: unknown, error: unknown): void {
    // A site whose body breaks off has answered, so it is reachable.
    if (!this.answered) this.guard.reports.failed(this.url, error, this.signal);
    this.handler.onResponseError?.(controller, error);
  }
}
