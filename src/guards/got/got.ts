import type { GuardClient } from '../shared/client.ts';
import { onAbort, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { ignoredBecause } from '../shared/ignore.ts';
import { assertThrowing, type ThrowingGuardOptions } from '../shared/options.ts';
import type { Refusal } from '../shared/refusal.ts';
import { Guard } from '../shared/guard.ts';
import { Hop, type HopOptions } from '../shared/hop.ts';
import { NodeAnswers } from '../shared/node-answers.ts';

export type { GuardClient } from '../shared/client.ts';
export type { OtherIdentity } from '../shared/identity.ts';
export type { RobotsInit } from '../shared/ignore.ts';
export type { IgnoredRequest, ThrowingGuardOptions } from '../shared/options.ts';

/** The part of got's `Options` that the guard reads. */
export interface GotRequest {
  readonly url?: string | URL | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Header fields by lower-case name. The guard sets `user-agent`. */
  readonly headers?: Record<string, string | string[] | undefined>;
  /** `{ robots: { ignore: true, because: '…' } }` sends a request regardless. */
  readonly context?: Readonly<Record<string, unknown>>;
}

/** The result of {@link gotHooks}. got merges the arrays with its own. */
export interface GotHooks {
  readonly hooks: {
    beforeRequest: ((request: GotRequest) => Promise<void>)[];
    beforeRedirect: ((request: GotRequest, response: GotResponse) => Promise<void>)[];
    afterResponse: (<Response extends GotResponse>(response: Response) => Response)[];
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
    new Guard(client, options, { seesHeaders: true, answers: new NodeAnswers() }),
  );
  return {
    hooks: {
      beforeRequest: [(request) => requests.begin(request)],
      beforeRedirect: [(request, response) => requests.redirect(request, response)],
      afterResponse: [(response) => requests.end(response)],
      beforeError: [(error) => requests.fail(error)],
    },
  };
}

class GotRequests {
  readonly #guard: Guard;
  readonly #hops = new WeakMap<GotRequest, Hop>();
  /** Redirects that were admitted already: got calls `beforeRequest` for them, too. */
  readonly #admitted = new WeakSet<Hop>();
  /** Removes the listener for an abort: got 14 tells no hook of one. */
  readonly #removeAbortListener = new WeakMap<Hop, () => void>();
  /** The error that a hook threw about a request, or about a redirect response. */
  readonly #thrown = new WeakMap<object, unknown>();

  constructor(guard: Guard) {
    this.#guard = guard;
  }

  async begin(request: GotRequest): Promise<void> {
    const known = this.#hops.get(request);
    const isKnown = known !== undefined && String(known.url) === String(request.url);
    if (isKnown && this.#admitted.delete(known)) return;
    // got calls this again for a request that it repeats, and tells nothing of the end of the one before.
    if (known !== undefined) this.#record(known);
    await this.#pass(request, request, (url, hopOptions) =>
      isKnown ? known.again() : new Hop(url, hopOptions),
    );
  }

  /** @param request The options of the request that follows. */
  async redirect(request: GotRequest, response: GotResponse): Promise<void> {
    const from = this.#hops.get(response.request.options) ?? new Hop(response.url);
    this.#look(from, response);
    const hop = await this.#pass(request, response, (url, hopOptions) => from.redirectedTo(url, hopOptions));
    this.#admitted.add(hop);
  }

  end<Response extends GotResponse>(response: Response): Response {
    const { options } = response.request;
    const refusal = this.#look(this.#hops.get(options) ?? new Hop(response.url), response);
    if (refusal === undefined) return response;
    this.#thrown.set(options, refusal);
    throw refusal;
  }

  fail<Failure extends GotFailure>(error: Failure): Failure {
    const { options, response } = error;
    // Before version 14.4 got copies the code and the message of an error thrown by a hook, but sets no `cause`.
    if (error.cause === undefined) {
      const cause =
        this.#thrown.get(options) ?? (isObject(response) ? this.#thrown.get(response) : undefined);
      if (cause !== undefined) Object.defineProperty(error, 'cause', { value: cause, configurable: true });
    }
    const hop = this.#hops.get(options);
    if (hop === undefined) return error;
    if (response === undefined) this.#guard.fail(hop, error);
    this.#record(hop);
    return error;
  }

  #look(hop: Hop, { statusCode, headers }: GotResponse): Refusal | undefined {
    this.#removeAbortListener.get(hop)?.();
    return this.#guard.conclude(hop, statusCode, headers);
  }

  #record(hop: Hop): void {
    this.#removeAbortListener.get(hop)?.();
    this.#guard.record(hop);
  }

  /** @param about What got gives to {@link fail} with the error that this throws. */
  async #pass(
    request: GotRequest,
    about: object,
    hopOf: (url: URL, options: HopOptions) => Hop,
  ): Promise<Hop> {
    try {
      if (request.url === undefined) throw earlierGot();
      const url = new URL(String(request.url));
      const because = ignoredBecause(request.context?.['robots']);
      const { headers } = request;
      if (headers !== undefined) {
        // got sends what is in this very object.
        Object.assign(headers, this.#guard.identity?.identified(url, headers));
      }
      const hop = hopOf(url, { signal: request.signal, because });
      this.#hops.set(request, hop);
      await this.#guard.pass(hop);
      const { signal } = request;
      if (signal?.aborted === true) this.#record(hop);
      else if (hop.slot !== undefined && signal !== undefined) {
        this.#removeAbortListener.set(
          hop,
          onAbort(signal, () => this.#guard.record(hop)),
        );
      }
      return hop;
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

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
