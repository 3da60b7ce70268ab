import type { ResponseHead } from './headers.ts';
import type { RequestOptions } from './admission.ts';
import type { GuardedRequest } from './guarded-request.ts';
import type { Refusal } from '../../core/client/refusal-errors.ts';

/** A request that a redirect leads to. */
interface Redirected {
  readonly url: string | URL;
}

/** One call of a library, whose own redirects are off. The hop `undefined` is the caller's request. */
export interface LibraryCall<Hop extends Redirected, Response extends ResponseHead, Result> {
  /** Of the redirects of the request. */
  readonly options: RequestOptions;
  /** Called before a hop is decided. A promise only when something has to be waited for. */
  beforeHop?(request: GuardedRequest, hop: Hop | undefined): Promise<void> | void;
  /** Sends one request. */
  send(hop: Hop | undefined, request: GuardedRequest): Promise<Response>;
  /** Whether the response is a redirect that is followed. */
  follows(response: Response, hop: Hop | undefined): boolean;
  /** The request that the redirect leads to. @throws what the library rejects with. */
  next(hop: Hop | undefined, response: Response): Hop | Promise<Hop>;
  /** Frees the connection of a response whose body is not read. */
  discard(response: Response): void;
  /** The request has failed. @returns what the call rejects with. */
  failed(error: unknown, request: GuardedRequest): unknown;
  /** The result of the call: the response of its last hop, whose body may still have to come. */
  respond(response: Response, request: GuardedRequest, hop: Hop | undefined): Result;
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
  first: GuardedRequest,
  call: LibraryCall<Hop, Response, Result>,
  firstHop?: Hop,
): Promise<Result> {
  let request = first;
  let hop = firstHop;
  for (;;) {
    const preparing = call.beforeHop?.(request, hop);
    if (preparing !== undefined) await preparing;
    const admitting = request.admit();
    const refusal = admitting instanceof Promise ? await admitting : admitting;
    if (refusal !== undefined) return call.refuse(refusal, hop);
    let response: Response;
    let follows: boolean;
    let refusedByResponse: Refusal | undefined;
    request.start();
    try {
      response = await call.send(hop, request);
      follows = call.follows(response, hop);
      refusedByResponse = request.onResponseHeaders(response.status, response.headers);
    } catch (error) {
      throw call.failed(error, request);
    }
    if (refusedByResponse !== undefined) {
      call.discard(response);
      return call.refuse(refusedByResponse, hop);
    }
    if (!follows) return call.respond(response, request, hop);
    // Free the connection and the permit before the decision, which may take a long time.
    call.discard(response);
    request.finish();
    hop = await call.next(hop, response);
    request = request.redirectedTo(hop.url, call.options);
  }
}
