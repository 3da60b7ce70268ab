import type { ResponseFields } from './headers.ts';
import type {
  AdmittedRequest,
  AnyRequest,
  PlannedRequest,
  RefusedRequest,
  RequestOptions,
  RespondedRequest,
  StartedRequest,
} from './guarded-request.ts';
import type { Refusal } from '../../core/client/refusal-errors.ts';

/** The part of a response that says what follows. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: ResponseFields;
}

/** A request that a redirect leads to. */
interface Redirected {
  readonly url: string | URL;
}

/** One call of a library, whose own redirects are off. The hop `undefined` is the caller's request. */
export interface LibraryCall<Hop extends Redirected, Response extends ResponseHead, Result> {
  /** Of the redirects of the request. */
  readonly options: RequestOptions;
  /** Called before a hop is decided. A promise only when something has to be waited for. */
  beforeHop?(request: AnyRequest, hop: Hop | undefined): Promise<void> | void;
  /** Sends one request. */
  send(hop: Hop | undefined, request: StartedRequest): Promise<Response>;
  /** Whether the response is a redirect that is followed. */
  follows(response: Response, hop: Hop | undefined): boolean;
  /** The request that the redirect leads to. @throws what the library rejects with. */
  next(hop: Hop | undefined, response: Response): Hop | Promise<Hop>;
  /** Frees the connection of a response whose body is not read. */
  discard(response: Response): void;
  /** The request has failed. @returns what the call rejects with. */
  failed(error: unknown, request: StartedRequest): unknown;
  /** The result of the call: the response of its last hop, whose body may still have to come. */
  respond(response: Response, request: RespondedRequest, hop: Hop | undefined): Result;
  /** The result of the call when a hop, or its response, is refused. */
  refuse(refusal: Refusal, hop: Hop | undefined): Result;
}

/**
 * Takes a request through its hops: each is decided, waits for its permit, and is sent; the redirect of its response is the
 * next. The first is sent synchronously when it need not wait. One asynchronous function for all of it: each costs a
 * request nearly a kilobyte.
 *
 * @param firstHop The redirect that led to the first request.
 * @throws what `admit` of a request throws, and the methods of `call`.
 */
export async function exchange<Hop extends Redirected, Response extends ResponseHead, Result>(
  first: PlannedRequest | AdmittedRequest,
  call: LibraryCall<Hop, Response, Result>,
  firstHop?: Hop,
): Promise<Result> {
  let planned: PlannedRequest | AdmittedRequest = first;
  let hop = firstHop;
  for (;;) {
    const preparing = call.beforeHop?.(planned, hop);
    if (preparing !== undefined) await preparing;
    const admitting = planned.admit();
    const admission = admitting instanceof Promise ? await admitting : admitting;
    if (admission.refusal !== undefined) return call.refuse(admission.refusal, hop);
    let started: StartedRequest | undefined;
    let response: Response;
    let request: RespondedRequest | RefusedRequest;
    let follows: boolean;
    try {
      started = admission.start();
      response = await call.send(hop, started);
      follows = call.follows(response, hop);
      request = started.onResponseHeaders(response.status, response.headers);
    } catch (error) {
      if (started !== undefined) throw call.failed(error, started);
      admission.finish();
      throw error;
    }
    if (request.refusal !== undefined) {
      call.discard(response);
      return call.refuse(request.refusal, hop);
    }
    if (!follows) return call.respond(response, request, hop);
    // Free the connection and the permit before the decision, which may take a long time.
    call.discard(response);
    request.finish();
    hop = await call.next(hop, response);
    planned = request.redirectedTo(hop.url, call.options);
  }
}
