import type { RobotsClient } from '../../core/client/index.ts';
import { RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { OWN_REQUEST } from '../../core/fetch/transport.ts';
import {
  ignoredBecause,
  assertThrowing,
  guardedTwice,
  type ThrowingGuardOptions,
} from '../shared/options.ts';
import { Guard } from '../shared/guard.ts';
import { markRetryAt } from '../shared/not-now.ts';
import type { EditableHeaders, ResponseFields } from '../shared/headers.ts';
import type { GuardedRequest } from '../shared/guarded-request.ts';
import { cleanInPlace } from '../../core/url/index.ts';
import { isNodeStream, observeNodeStream } from '../shared/response-body.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable } from 'node:stream';

export { type GotInstance, gotTransport } from './got-transport.ts';
export type { RobotsInit, ThrowingGuardOptions } from '../shared/options.ts';

/** The part of got's `Options` that the guard reads. */
export interface GotRequest {
  readonly url?: string | URL | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Header fields by lower-case name. The guard sets `user-agent`. */
  readonly headers?: Record<string, string | string[] | undefined>;
  /** `{ robots: { ignore: true, because: '…' } }` sends a request regardless. */
  readonly context?: Readonly<Record<string, unknown>>;
  readonly isStream?: boolean | undefined;
  /** Of this request alone: the guard adds one, which runs after all others. */
  readonly hooks?: { readonly beforeRequest: unknown[] };
}

/** The result of {@link gotHooks}. got merges the arrays with its own. */
export interface GotHooks {
  readonly hooks: {
    beforeRequest: ((request: GotRequest) => void)[];
    beforeRedirect: ((request: GotRequest, response: GotResponse) => void)[];
    afterResponse: (<Response extends GotResponse>(response: Response) => Response)[];
    beforeRetry: ((failure: GotFailure) => void)[];
    beforeError: (<Failure extends GotFailure>(error: Failure) => Failure)[];
  };
  readonly handlers: (<Options extends GotRequest, Result>(
    options: Options,
    next: (options: Options) => Result,
  ) => Result)[];
}

/** The part of got's `Response` that the guard reads. */
export interface GotResponse {
  readonly url: string;
  readonly statusCode: number;
  readonly request: { readonly options: GotRequest };
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** All lines of all fields: of some fields Node keeps one line in `headers`. */
  readonly rawHeaders?: readonly string[];
}

/** The part of got's `RequestError` that the guard reads. */
export interface GotFailure {
  readonly name: string;
  readonly options: GotRequest;
  readonly response?: GotResponse | undefined;
  readonly cause?: unknown;
}

/**
 * Makes hooks for `got.extend(...)`. They check each request, and each redirect it meets, against the robots.txt of its
 * own origin before it is sent.
 *
 * A request that is refused rejects with got's `RequestError`, whose `code` is `ERR_ROBOTS_DISALLOWED` or
 * `ERR_ROBOTS_UNREACHABLE` and whose `cause` is the refusal with its `decision` and `retryAt`. got does not
 * retry it. It is decided after all other `beforeRequest` hooks, which may change the URL. A response from the `cache` of
 * got counts as a request, too.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 *
 * @example
 * ```ts
 * import got from 'got';
 * import { RobotsClient } from 'canfetch';
 * import { gotHooks } from 'canfetch/got';
 *
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
 * const gotPolitely = got.extend(gotHooks(robots));
 * const page = await gotPolitely('https://example.com/page').text();
 * ```
 */
export function gotHooks(client: RobotsClient, options: ThrowingGuardOptions = {}): GotHooks {
  assertThrowing(options);
  const requests = new GotRequests(new Guard(client, options));
  return {
    hooks: {
      beforeRequest: [(request) => requests.beginLast(request)],
      beforeRedirect: [(request, response) => requests.redirect(request, response)],
      afterResponse: [(response) => requests.end(response)],
      beforeRetry: [(failure) => requests.retry(failure)],
      beforeError: [(error) => requests.fail(error)],
    },
    handlers: [(given, next) => requests.call(given, next)],
  };
}

/** A call of got: its attempts and redirects have options of their own. */
interface GotCall {
  current: GuardedRequest | undefined;
  isOver: boolean;
}

/** The guard of each request. */
const guardOf = new WeakMap<GotRequest, GotRequests>();

class GotRequests {
  readonly #guard: Guard;
  readonly #requests = new WeakMap<GotRequest, GuardedRequest>();
  /** The request whose redirect leads to another one. */
  readonly #redirected = new WeakMap<GotRequest, GuardedRequest>();
  readonly #calls = new AsyncLocalStorage<GotCall>();
  /** The error that a hook threw about a request. */
  readonly #thrown = new WeakMap<GotRequest, unknown>();

  constructor(guard: Guard) {
    this.#guard = guard;
  }

  /** A call, from its beginning until its promise settles, or its stream is over. */
  call<Options extends GotRequest, Result>(given: Options, next: (options: Options) => Result): Result {
    if (isOwn(given)) return next(given);
    const call: GotCall = { current: undefined, isOver: false };
    const end = (): void => {
      call.isOver = true;
      call.current?.finish();
    };
    const result = this.#calls.run(call, () => next(given));
    // got calls no hook when a request is aborted.
    const failed = (error: unknown): void => {
      if (call.current?.isFinished === false) this.retry(error);
      end();
    };
    if (result instanceof Promise) result.then(end, failed);
    else if (isNodeStream(result)) this.#observe(result as unknown as Readable, end);
    return result;
  }

  /** The response of a stream comes by an event, and its body is read from the stream. */
  #observe(stream: Readable, end: () => void): void {
    // No listener for `error`: it would swallow one that the caller does not listen to.
    stream.once('close', end);
    stream.once('response', (response: GotResponse) => {
      const request = this.#of(response);
      const refusal = request.onResponseHeaders(response.statusCode, fieldsOf(response));
      markRetryAt(response, request);
      if (refusal !== undefined) {
        stream.destroy(refusal);
        return;
      }
      observeNodeStream(stream, request);
      request.awaitReader();
    });
  }

  /** Hooks of a single request follow those of its instance, and may change the URL. */
  beginLast({ url, hooks }: GotRequest): void {
    if (url === undefined || hooks === undefined) throw earlierGot();
    if (!hooks.beforeRequest.includes(this.#begin)) hooks.beforeRequest.push(this.#begin);
  }

  /** Called for each attempt and redirect, just before got sends it, with the final URL. */
  readonly #begin = async (request: GotRequest): Promise<void> => {
    if (isOwn(request)) return;
    if ((guardOf.get(request) ?? this) !== this) throw guardedTwice('a request of got');
    guardOf.set(request, this);
    this.#requests.get(request)?.finish();
    await this.#start(request);
  };

  /** got awaits its hooks, so {@link begin} decides the redirect. @param request The options of the request that follows. */
  redirect(request: GotRequest, response: GotResponse): void {
    const from = this.#of(response);
    if (from.hasResponded) return;
    from.onResponse(response.statusCode, fieldsOf(response));
    this.#redirected.set(request, from);
  }

  end<Response extends GotResponse>(response: Response): Response {
    const request = this.#of(response);
    if (request.hasResponded) return response;
    const refusal = request.onResponse(response.statusCode, fieldsOf(response));
    markRetryAt(response, request);
    if (refusal === undefined) return response;
    this.#thrown.set(response.request.options, refusal);
    throw refusal;
  }

  /** An attempt has failed, and got tries again with other options. */
  retry(error: unknown): void {
    if (!isFailure(error)) return;
    const request = this.#requests.get(error.options);
    const { response } = error;
    if (response !== undefined && request?.hasResponded === false) {
      const fields = fieldsOf(response);
      // The body has broken off: the status counts all the same.
      if (/^(?:Read|Timeout|Abort)Error$/.test(error.name))
        request.onResponseHeaders(response.statusCode, fields);
      else request.onResponse(response.statusCode, fields);
      markRetryAt(response, request);
    }
    request?.fail(error);
  }

  fail<Failure extends GotFailure>(error: Failure): Failure {
    const cause = this.#thrown.get(error.options);
    // Before version 14.4 got copies the code and the message of an error thrown by a hook, but sets no `cause`.
    if (error.cause === undefined && cause !== undefined)
      Object.defineProperty(error, 'cause', { value: cause, configurable: true });
    this.retry(error);
    return error;
  }

  #of(response: GotResponse): GuardedRequest {
    return this.#requests.get(response.request.options) ?? this.#guard.plan(response.url);
  }

  async #start(request: GotRequest): Promise<void> {
    try {
      if (request.url instanceof URL) cleanInPlace(request.url);
      const url = new URL(String(request.url));
      const because = ignoredBecause(request.context?.['robots']);
      const { headers, signal } = request;
      // got 16 takes a field that a hook has set, to whatever value, for one of the caller: so only this one.
      if (headers !== undefined) this.#guard.identity?.identify(editable(headers));
      const options = { signal, because };
      const planned =
        this.#redirected.get(request)?.redirectedTo(url, options) ?? this.#guard.plan(url, options);
      this.#requests.set(request, planned);
      const call = this.#calls.getStore();
      // It may be given up while it waits, and is then not sent.
      if (call !== undefined) call.current = planned;
      const refusal = await planned.admit();
      if (refusal !== undefined) throw refusal;
      if (call?.isOver === true || signal?.aborted === true) {
        planned.finish();
        return;
      }
      planned.start();
      // Without `handlers` nothing shows the end of a stream.
      if (call === undefined && request.isStream === true) planned.finish();
    } catch (error) {
      this.#thrown.set(request, error);
      throw error;
    }
  }
}

const editable = (headers: NonNullable<GotRequest['headers']>): EditableHeaders => ({
  get: (name) => headers[name],
  set: (name, value) => (headers[name] = value),
});

/** A redirect or a response may have two lines of a field of which Node keeps one. */
function fieldsOf({ headers, rawHeaders }: GotResponse): ResponseFields {
  return rawHeaders ?? headers;
}

/** got 9 and earlier call hooks with other options. */
function earlierGot(): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    'Expected got 14 or later, got a request without `url`, as earlier versions make them; update the package `got`',
  );
}

/** Whether a client requests robots.txt, by {@link gotTransport}. */
function isOwn({ context }: GotRequest): boolean {
  return context?.['robots'] === OWN_REQUEST;
}

function isFailure(value: unknown): value is GotFailure {
  return value instanceof Error && 'options' in value;
}
