import type { Guard } from './guard.ts';
import { fieldsOf, type NodeHeaders } from './fetch/response.ts';

/** The part of undici's `DispatchHandler` that is called with what a site answers. */
export interface AnswerHandler {
  onRequestStart?(controller: unknown, context: unknown): void;
  onRequestUpgrade?(controller: unknown, status: number, headers: NodeHeaders, socket: unknown): void;
  onResponseStart?(controller: unknown, status: number, headers: NodeHeaders, statusMessage?: string): void;
  onResponseData?(controller: unknown, chunk: unknown): void;
  onResponseEnd?(controller: unknown, trailers: unknown): void;
  onResponseError?(controller: unknown, error: unknown): void;
}

/** Passes everything on to `handler`, and tells the guard what the answer, or its absence, shows of the site. */
export class ReportingHandler implements AnswerHandler {
  private readonly handler: AnswerHandler;
  private readonly guard: Guard;
  private readonly url: string;
  private readonly signal: AbortSignal | undefined;
  private answered = false;

  constructor(handler: AnswerHandler, guard: Guard, url: string, signal: AbortSignal | undefined) {
    this.handler = handler;
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
      this.guard.answered(this.url, status, fieldsOf(headers));
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
    // A body that breaks off came from a site that answers.
    if (!this.answered) this.guard.failed(this.url, error, this.signal);
    this.handler.onResponseError?.(controller, error);
  }
}
