import type { GuardClient } from '../shared/client.ts';
import { ignore, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import {
  ignoredBecause,
  assertThrowing,
  guardedTwice,
  type ThrowingGuardOptions,
} from '../shared/options.ts';
import { Guard } from '../shared/guard.ts';
import type { PlannedRequest, RequestOptions, StartedRequest } from '../shared/guarded-request.ts';
import { cleanInPlace } from '../../core/url/index.ts';
import { watchClientRequest, watchNodeRequests } from '../shared/node-requests.ts';

export type { GuardClient } from '../shared/client.ts';
export type { OtherIdentity } from '../shared/identity.ts';
export type { RobotsInit, IgnoredRequest, ThrowingGuardOptions } from '../shared/options.ts';

/** The part of got's `Options` that the guard reads. */
export interface GotRequest {
  readonly url?: string | URL | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Header fields by lower-case name. The guard sets `user-agent`. */
  readonly headers?: Record<string, string | string[] | undefined>;
  /** `{ robots: { ignore: true, because: '…' } }` sends a request regardless. */
  readonly context?: Readonly<Record<string, unknown>>;
  readonly http2?: boolean | undefined;
  /** The caller's function that sends requests. The guard replaces it to see them. */
  request?: SendFunction | undefined;
  /** The function that sends the request. got has it from 12 on. */
  getRequestFunction?(): SendFunction | undefined;
}

/** Sends a request, as `http.request`. With HTTP/2 it returns a promise. */
export type SendFunction = (...args: never[]) => unknown;

/** The result of {@link gotHooks}. got merges the arrays with its own. */
export interface GotHooks {
  readonly hooks: {
    beforeRequest: ((request: GotRequest) => Promise<void>)[];
    beforeRedirect: ((request: GotRequest, response: GotResponse) => Promise<void>)[];
    afterResponse: (<Response extends GotResponse>(response: Response) => Response)[];
    /** got before 12 gives the options first. */
    beforeRetry: ((failure: GotFailure | GotRequest, details?: unknown) => void)[];
    beforeError: (<Failure extends GotFailure>(error: Failure) => Failure)[];
  };
}

/** The part of got's `Response` that the guard reads. */
export interface GotResponse {
  readonly url: string;
  readonly statusCode: number;
  readonly request: { readonly options: GotRequest };
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The part of got's `RequestError` that the guard reads. */
export interface GotFailure {
  readonly options: GotRequest;
  readonly response?: unknown;
  readonly cause?: unknown;
}

/**
 * Makes hooks for `got.extend(...)`. They check each request, and each redirect it meets, against the robots.txt of its
 * own origin before it is sent.
 *
 * A request that is refused rejects with got's `RequestError`, whose `code` is `ERR_ROBOTS_DISALLOWED` or
 * `ERR_ROBOTS_UNREACHABLE` and whose `cause` is the refusal with its `decision` and `retryAt`. got does not
 * retry it. Hooks run in the order in which they were added, so add these after any that change the URL.
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
export function gotHooks(client: GuardClient, options: ThrowingGuardOptions = {}): GotHooks {
  assertThrowing(options);
  const requests = new GotRequests(
    new Guard(client, options, { headersBeforeBody: true, watch: watchNodeRequests }),
  );
  return {
    hooks: {
      beforeRequest: [(request) => requests.begin(request)],
      beforeRedirect: [(request, response) => requests.redirect(request, response)],
      afterResponse: [(response) => requests.end(response)],
      beforeRetry: [(failure, details) => requests.retry(isFailure(failure) ? failure : details)],
      beforeError: [(error) => requests.fail(error)],
    },
  };
}

/** The guard of each request. */
const guardOf = new WeakMap<GotRequest, GotRequests>();

class GotRequests {
  readonly #guard: Guard;
  readonly #requests = new WeakMap<GotRequest, StartedRequest>();
  /** By each function of this guard, the one that sends requests. */
  readonly #given = new WeakMap<SendFunction, SendFunction>();
  /** The error that a hook threw about a request, or about a redirect response. */
  readonly #thrown = new WeakMap<object, unknown>();

  constructor(guard: Guard) {
    this.#guard = guard;
  }

  async begin(request: GotRequest): Promise<void> {
    if ((guardOf.get(request) ?? this) !== this) throw guardedTwice('a request of got');
    guardOf.set(request, this);
    const known = this.#requests.get(request);
    // A redirect was started already, and `got.extend` may get the hooks twice. got before 12 repeats a failed request with
    // the same options.
    if (known?.isFinished === false && String(known.url) === String(request.url)) return;
    known?.finish();
    await this.#start(request, request, (url, options) => this.#guard.plan(url, options));
  }

  /** @param request The options of the request that follows. */
  async redirect(request: GotRequest, response: GotResponse): Promise<void> {
    const from = this.#of(response);
    if (from.hasResponded) return;
    from.onResponse(response.statusCode, response.headers);
    await this.#start(request, response, (url, options) => from.redirectedTo(url, options));
  }

  end<Response extends GotResponse>(response: Response): Response {
    const request = this.#of(response);
    if (request.hasResponded) return response;
    const { refusal } = request.onResponse(response.statusCode, response.headers);
    if (refusal === undefined) return response;
    this.#thrown.set(response.request.options, refusal);
    throw refusal;
  }

  /** An attempt has failed, and got tries again with other options. */
  retry(error: unknown): void {
    if (isFailure(error)) this.#requests.get(error.options)?.fail(error);
  }

  fail<Failure extends GotFailure>(error: Failure): Failure {
    const { options, response } = error;
    // Before version 14.4 got copies the code and the message of an error thrown by a hook, but sets no `cause`.
    if (error.cause === undefined) {
      const cause =
        this.#thrown.get(options) ?? (isObject(response) ? this.#thrown.get(response) : undefined);
      if (cause !== undefined) Object.defineProperty(error, 'cause', { value: cause, configurable: true });
    }
    this.retry(error);
    return error;
  }

  /** No diagnostics channel reports the requests of HTTP/2, and perhaps none those of a function of the caller's. */
  #watchSending(request: GotRequest): void {
    if (request.http2 !== true && request.request === undefined) return;
    const given = request.getRequestFunction?.();
    if (given === undefined) return;
    // A request that is made again has the function of the guard.
    const send = this.#given.get(given) ?? given;
    const watched: SendFunction = (...args) => {
      const sent = send(...args);
      const watch = (wire: unknown): void => {
        const started = this.#requests.get(request);
        if (started !== undefined) watchClientRequest(wire, started);
      };
      if (sent instanceof Promise) sent.then(watch, ignore);
      else watch(sent);
      return sent;
    };
    this.#given.set(watched, send);
    request.request = watched;
  }

  #of(response: GotResponse): StartedRequest {
    return this.#requests.get(response.request.options) ?? this.#guard.unseen(response.url);
  }

  /** @param about The object that got passes to {@link fail} with the error that this throws. */
  async #start(
    request: GotRequest,
    about: object,
    plan: (url: URL, options: RequestOptions) => PlannedRequest,
  ): Promise<void> {
    try {
      if (request.url === undefined) throw earlierGot();
      if (request.url instanceof URL) cleanInPlace(request.url);
      const url = new URL(String(request.url));
      const because = ignoredBecause(request.context?.['robots']);
      const { headers, signal } = request;
      if (headers !== undefined) {
        // got sends the fields of this object.
        Object.assign(headers, this.#guard.identity?.identified(url, headers));
      }
      const started = await plan(url, { signal, because }).startOrThrow();
      this.#requests.set(request, started);
      this.#watchSending(request);
      if (signal?.aborted === true) started.finish();
    } catch (error) {
      this.#thrown.set(about, error);
      throw error;
    }
  }
}

/** got 9 and earlier call hooks with other options. */
function earlierGot(): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    'Expected got 10 or later, got a request without `url`, as earlier versions make them; update the package `got`',
  );
}

function isFailure(value: unknown): value is GotFailure {
  return value instanceof Error && 'options' in value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
