import { RobotsInvalidOptionsError, RobotsInvalidUrlError } from '../../core/base/index.ts';
import { OWN_REQUEST } from '../../core/fetch/transport.ts';
import { guardFetch } from '../fetch/fetch.ts';
import type { RobotsClient } from '../../core/client/index.ts';
import type { EditableHeaders, NodeHeaders } from '../shared/headers.ts';
import {
  ignoredBecause,
  assertThrowing,
  type GuardOptions,
  guardedTwice,
  type ThrowingGuardOptions,
} from '../shared/options.ts';
import { type Refusal, RobotsUndecidedError } from '../shared/refusal-errors.ts';
import { Guard } from '../shared/guard.ts';
import { markRetryAt } from '../shared/not-now.ts';
import type { RequestOptions, StartedRequest } from '../shared/guarded-request.ts';
import { isNodeStream, observeNodeStream } from '../shared/response-body.ts';
import { assertServed, type AxiosLike, earlierAxios, usesFetch } from './instance.ts';
import { isSentAsGiven, sentUrl } from '../../core/url/index.ts';

export { axiosTransport } from './axios-transport.ts';
export type { AxiosLike } from './instance.ts';
export type { OtherIdentity } from '../shared/identity.ts';
export type { RobotsInit, IgnoredRequest, ThrowingGuardOptions } from '../shared/options.ts';

/** The part of axios's response that the guard reads. */
interface AxiosResponseLike {
  readonly status: number;
  readonly headers: NodeHeaders;
  /** With `responseType: 'stream'` a Node stream. */
  readonly data?: unknown;
  readonly config: Config;
  /** Over Node's HTTP: a `ClientRequest`. */
  readonly request?: unknown;
}

type BeforeRedirect = (
  options: { readonly href?: string },
  /** The redirect. axios gives it from 1.2 on. */
  response?: { readonly statusCode?: number; readonly headers?: NodeHeaders },
  ...details: unknown[]
) => void;

/** The part of axios's request config that the guard reads and writes. */
interface Config {
  readonly signal?: AbortSignal;
  adapter?: unknown;
  readonly robots?: unknown;
  readonly headers?: EditableHeaders;
  beforeRedirect?: BeforeRedirect;
  env?: { readonly fetch?: unknown };
  fetchOptions?: object;
}

/**
 * Adds a request interceptor to an axios instance. It checks each request, and each redirect it meets, against the
 * robots.txt of its own origin before it is sent.
 *
 * A request that may not be made rejects with `RobotsDisallowedError` (`ERR_ROBOTS_DISALLOWED`) or
 * `RobotsUnreachableError` (`ERR_ROBOTS_UNREACHABLE`, with `retryAt`); a redirect with an `AxiosError` that has
 * that error among its causes: `refusalIn(error)` finds it.
 *
 * axios handles redirects synchronously, so it cannot wait for a robots.txt. A redirect to an origin whose robots.txt
 * is not in memory is refused with `RobotsUndecidedError` (`ERR_ROBOTS_UNDECIDED`). With `adapter: 'fetch'` (axios 1.12 or later) the fetch
 * of axios is guarded instead, which can wait. For the same reason `pacing` delays requests, but not their redirects.
 *
 * axios calls request interceptors in reverse order: add those that change the URL after this one. An `adapter` or
 * `transport` of your own may follow redirects that no guard sees.
 *
 * @returns the same instance.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 *
 * @example
 * ```ts
 * import axios from 'axios';
 * import { RobotsClient } from 'canfetch';
 * import { guardAxios } from 'canfetch/axios';
 *
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
 * const axiosPolitely = guardAxios(axios.create(), robots);
 * const { data } = await axiosPolitely.get('https://example.com/page');
 * ```
 */
export function guardAxios<Instance extends AxiosLike>(
  instance: Instance,
  client: RobotsClient,
  options: ThrowingGuardOptions & Pick<GuardOptions, 'timeoutMs'> = {},
): Instance {
  assertThrowing(options, true);
  assertServed(instance);
  if (guardedInstances.has(instance)) throw guardedTwice('an instance of axios');
  const requests = new AxiosRequests(instance, new Guard(client, options, { headersBeforeBody: true }));
  /** Guarded fetches by the fetch they wrap, and by themselves: a repeated request already has its guarded fetch. */
  const guardedFetches = new WeakMap<object, unknown>();
  const guarded = (fetch: unknown): unknown => {
    const inner = (typeof fetch === 'function' ? fetch : globalThis.fetch) as typeof globalThis.fetch;
    // axios caches an adapter per `fetch` function, so one fetch must always give the same guarded fetch.
    const known = guardedFetches.get(inner);
    if (known !== undefined) return known;
    const made = guardFetch(inner, client, options);
    guardedFetches.set(inner, made);
    guardedFetches.set(made, made);
    return made;
  };
  let takesFetch: Promise<boolean> | undefined;
  const onRequest = async (config: Config): Promise<Config> => {
    if (config.robots === OWN_REQUEST) return config;
    if (!usesFetch(config.adapter)) {
      if (options.timeoutMs !== undefined) throw needsFetch();
      return requests.begin(config);
    }
    takesFetch ??= callsGivenFetch(instance);
    if (!(await takesFetch)) {
      throw earlierAxios();
    }
    config.env = { ...config.env, fetch: guarded(config.env?.fetch) };
    if (config.robots !== undefined) config.fetchOptions = { ...config.fetchOptions, robots: config.robots };
    return config;
  };
  const onResponse = (response: AxiosResponseLike): AxiosResponseLike => requests.end(response);
  const onFailure = (error: unknown): Promise<never> => requests.fail(error);
  const { request, response } = instance.interceptors;
  (request.use as (onFulfilled: typeof onRequest) => number).call(request, onRequest);
  const useResponse = response.use as (
    onFulfilled: typeof onResponse,
    onRejected: typeof onFailure,
  ) => number;
  useResponse.call(response, onResponse, onFailure);
  guardedInstances.add(instance);
  return instance;
}

const guardedInstances = new WeakSet<AxiosLike>();

function needsFetch(): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    "Expected `timeoutMs` with `adapter: 'fetch'`, got another adapter; over Node's HTTP the `timeout` of axios counts from sending",
  );
}

/** Whether axios calls the `fetch` of its config, which it does from 1.12 on. Found out with a URL that needs no network. */
async function callsGivenFetch(instance: AxiosLike): Promise<boolean> {
  const { create }: { create?: unknown } = Object(instance);
  // Instances of the class itself have none.
  if (typeof create !== 'function') return true;
  let isCalled = false;
  const fetch = async (): Promise<Response> => {
    isCalled = true;
    return new Response();
  };
  try {
    const { get }: { get(url: string): Promise<unknown> } = create({
      adapter: 'fetch',
      baseURL: '',
      env: { fetch },
    });
    await get('data:,');
  } catch {
    // The outcome does not matter.
  }
  return isCalled;
}

/** The requests that axios sends over Node's HTTP. `guardFetch` guards requests over `fetch`. */
class AxiosRequests {
  readonly #instance: AxiosLike;
  readonly #guard: Guard;
  /** The current request of a call, by its `beforeRedirect`: interceptors may copy a config. */
  readonly #requests = new WeakMap<BeforeRedirect, StartedRequest>();
  /** By each function of this guard, that of the caller: a config may be sent again. */
  readonly #given = new WeakMap<BeforeRedirect, BeforeRedirect>();

  constructor(instance: AxiosLike, guard: Guard) {
    this.#instance = instance;
    this.#guard = guard;
  }

  async begin(config: Config): Promise<Config> {
    const { signal } = config;
    const text = this.#instance.getUri(config);
    const url = urlOf(sentUrl(text));
    if (!isSentAsGiven(text)) Object.assign(config, { url: url.href, baseURL: undefined, params: undefined });
    if (config.headers !== undefined) this.#guard.identity?.identify(url, config.headers);
    const options = { signal, because: ignoredBecause(config.robots) };
    // A library that tries again sends the config of the attempt that failed.
    this.#of(config)?.finish();
    let started: StartedRequest | undefined;
    try {
      started = await this.#guard.plan(url, options).startOrThrow();
    } catch (error) {
      // axios checks the signal next, and rejects with its own error, which `isCancel` recognizes.
      if (signal?.aborted !== true) throw error;
    }
    const { beforeRedirect: given } = config;
    const beforeRedirect = given && (this.#given.get(given) ?? given);
    const guarded: BeforeRedirect = (redirect, response, ...details) => {
      beforeRedirect?.(redirect, response, ...details);
      const url = urlOf(sentUrl(redirect.href ?? ''));
      if (url.href !== redirect.href)
        Object.assign(redirect, { href: url.href, path: url.pathname + url.search });
      this.#redirect(guarded, url, response, options);
    };
    if (beforeRedirect !== undefined) this.#given.set(guarded, beforeRedirect);
    config.beforeRedirect = guarded;
    if (started !== undefined) this.#requests.set(guarded, started);
    return config;
  }

  #of({ beforeRedirect }: Config): StartedRequest | undefined {
    return beforeRedirect && this.#requests.get(beforeRedirect);
  }

  end(response: AxiosResponseLike): AxiosResponseLike {
    const refusal = this.#onResponse(response);
    if (refusal === undefined) return response;
    if (isNodeStream(response.data)) response.data.destroy();
    throw refusal;
  }

  fail(error: unknown): Promise<never> {
    if (isAxiosFailure(error)) {
      const { response, config } = error;
      // The body of such a response is rarely read.
      if (response !== undefined) this.#onResponse(response, false);
      else this.#of(config)?.fail(error);
    }
    return Promise.reject(error);
  }

  #onResponse(response: AxiosResponseLike, isRead = true): Refusal | undefined {
    const { status, headers, config, data } = response;
    const request = this.#of(config);
    if (request === undefined) return undefined;
    const fields = linesOf(response) ?? { ...headers };
    if (!isRead || !isNodeStream(data)) {
      const { refusal } = request.onResponse(status, fields);
      markRetryAt(response, request);
      return refusal;
    }
    const responded = request.onResponseHeaders(status, fields);
    markRetryAt(response, request);
    if (responded.refusal === undefined && responded.isInFlight) {
      observeNodeStream(data, responded);
      responded.awaitReader();
    }
    return responded.refusal;
  }

  /** A redirect cannot wait, neither for a decision nor for a permit. */
  #redirect(
    key: BeforeRedirect,
    url: URL,
    response: Parameters<BeforeRedirect>[1],
    options: RequestOptions,
  ): void {
    const from = this.#requests.get(key) ?? this.#guard.unseen(url);
    if (response?.statusCode === undefined) from.finish();
    else from.onResponse(response.statusCode, response.headers ?? {});
    const next = from.redirectedTo(url, { ...options, waits: false });
    const admission = next.admit();
    if (admission instanceof Promise) {
      // The client fetches robots.txt now, so that a repeated request can be decided. A dry run reports a refusal then.
      admission.catch(() => undefined);
      if (this.#guard.settings.enforces) throw new RobotsUndecidedError(url.href, next.chain);
      this.#requests.set(key, next.startUndecided());
      return;
    }
    if (admission.refusal !== undefined) throw admission.refusal;
    this.#requests.set(key, admission.start());
  }
}

/** All lines of the header section, where axios shows the response of Node: of some fields `headers` has one line. */
function linesOf({ request }: AxiosResponseLike): readonly string[] | undefined {
  const { res }: { res?: unknown } = Object(request);
  const { rawHeaders }: { rawHeaders?: unknown } = Object(res);
  return Array.isArray(rawHeaders) ? rawHeaders : undefined;
}

function isAxiosFailure(
  error: unknown,
): error is { readonly config: Config; readonly response?: AxiosResponseLike } {
  const config: unknown = error instanceof Error ? Reflect.get(error, 'config') : undefined;
  return typeof config === 'object' && config !== null;
}

function urlOf(text: string): URL {
  try {
    return new URL(text);
  } catch (cause) {
    throw new RobotsInvalidUrlError(text, { cause });
  }
}
