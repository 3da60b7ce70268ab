import { RobotsInvalidUrlError } from '../base/index.ts';
import type { Decision } from '../decision/index.ts';
import { guardFetch } from './fetch/fetch.ts';
import type { GuardClient } from './client.ts';
import { Guard } from './guard.ts';
import { ignoredBecause } from './ignore.ts';
import { assertThrowing, type ThrowingGuardOptions } from './options.ts';
import { refusalFor, RobotsUndecidedError } from './refusal.ts';
import { fieldsOf, usageHeaders } from './fetch/response.ts';

export type { GuardClient } from './client.ts';
export type { OtherIdentity } from './identity.ts';
export type { RobotsInit } from './ignore.ts';
export type { IgnoredRequest, ThrowingGuardOptions } from './options.ts';

/** The part of an axios instance that the guard uses. */
export interface AxiosLike {
  getUri(config?: object): string;
  readonly interceptors: {
    readonly request: { readonly use: (onFulfilled: never) => number };
    readonly response: { readonly use: (onFulfilled: never, onRejected: never) => number };
  };
}

/** The part of axios's response that the guard reads. */
interface AxiosResponseLike {
  readonly status: number;
  readonly headers: object;
  readonly config: Config;
  /** Node's request. Its response has the URL after redirects. */
  readonly request?: { readonly res?: { readonly responseUrl?: string } };
}

type BeforeRedirect = (options: { readonly href?: string }, ...details: unknown[]) => void;

/** The part of `AxiosHeaders` that the guard uses. */
interface AxiosHeadersLike {
  get(name: string): unknown;
  set(name: string, value: string): unknown;
}

/** The part of axios's request config that the guard reads and writes. */
interface Config {
  readonly signal?: AbortSignal;
  readonly adapter?: unknown;
  readonly robots?: unknown;
  readonly headers?: AxiosHeadersLike;
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
 * is not in memory is refused with `RobotsUndecidedError` (`ERR_ROBOTS_UNDECIDED`). With `adapter: 'fetch'` the fetch
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
  client: GuardClient,
  options: ThrowingGuardOptions = {},
): Instance {
  assertThrowing(options);
  const guard = new Guard(client, options, true);
  /** The decision about the last hop of a request. */
  const allowedBy = new WeakMap<Config, Decision>();
  const guardedFetches = new WeakMap<object, unknown>();
  /** axios caches an adapter per `fetch` function, so one fetch must always give the same guarded fetch. */
  const guarded = (fetch: unknown): unknown => {
    const inner = (typeof fetch === 'function' ? fetch : globalThis.fetch) as typeof globalThis.fetch;
    const known = guardedFetches.get(inner) ?? guardFetch(inner, client, options);
    guardedFetches.set(inner, known);
    return known;
  };

  const onRequest = async (config: Config): Promise<Config> => {
    if (usesFetch(config.adapter)) {
      config.env = { ...config.env, fetch: guarded(config.env?.fetch) };
      if (config.robots !== undefined)
        config.fetchOptions = { ...config.fetchOptions, robots: config.robots };
      return config;
    }
    const url = urlOf(instance.getUri(config));
    const because = ignoredBecause(config.robots);
    identify(guard, url, config.headers);
    const onDecision = guard.hasPurpose
      ? (decision: Decision): void => void allowedBy.set(config, decision)
      : undefined;
    try {
      await guard.admit(url, { signal: config.signal, because, onDecision });
    } catch (error) {
      // axios checks the signal next, and rejects with its own error, which `isCancel` recognizes.
      if (config.signal?.aborted !== true) throw error;
    }
    const { beforeRedirect } = config;
    config.beforeRedirect = (redirect, ...details) => {
      beforeRedirect?.(redirect, ...details);
      allowedBy.delete(config);
      admitRedirect(guard, urlOf(redirect.href ?? ''), because, onDecision);
    };
    return config;
  };
  const answered = ({ status, headers, config, request }: AxiosResponseLike): void => {
    // The guarded fetch reports by itself.
    if (usesFetch(config.adapter)) return;
    const url = request?.res?.responseUrl ?? instance.getUri(config);
    guard.reports.answered(url, status, fieldsOf({ ...headers }));
  };
  const onResponse = (response: AxiosResponseLike): AxiosResponseLike => {
    answered(response);
    const { config, headers } = response;
    if (guard.hasPurpose && !usesFetch(config.adapter)) {
      const refused = guard.refusesResponse(allowedBy.get(config), usageHeaders({ ...headers }));
      if (refused !== undefined) throw refusalFor(refused);
    }
    return response;
  };
  const onFailure = (error: unknown): Promise<never> => {
    if (isAxiosFailure(error)) {
      const { response, config } = error;
      if (response !== undefined) answered(response);
      else if (!usesFetch(config.adapter))
        guard.reports.failed(instance.getUri(config), error, config.signal);
    }
    return Promise.reject(error);
  };
  const { request, response } = instance.interceptors;
  (request.use as (onFulfilled: typeof onRequest) => number).call(request, onRequest);
  const useResponse = response.use as (
    onFulfilled: typeof onResponse,
    onRejected: typeof onFailure,
  ) => number;
  useResponse.call(response, onResponse, onFailure);
  return instance;
}

function identify({ identity }: Guard, url: URL, headers: AxiosHeadersLike | undefined): void {
  const given = headers?.get('User-Agent');
  // `false` makes axios send no such field, as the caller wants.
  if (headers === undefined || given === false) return;
  const userAgent = identity?.replaces(url, typeof given === 'string' ? given : undefined);
  if (userAgent !== undefined) headers.set('User-Agent', userAgent);
}

function isAxiosFailure(
  error: unknown,
): error is { readonly config: Config; readonly response?: AxiosResponseLike } {
  const config: unknown = error instanceof Error ? Reflect.get(error, 'config') : undefined;
  return typeof config === 'object' && config !== null;
}

function admitRedirect(
  guard: Guard,
  url: URL,
  because: string | undefined,
  onDecision: ((decision: Decision) => void) | undefined,
): void {
  // A redirect cannot wait for a slot either.
  const verdict = guard.refuses(url, { because, paced: false, onDecision });
  if (verdict instanceof Promise) {
    // The client fetches robots.txt now, so that a repeated request can be decided. A dry run reports the refusal then.
    verdict.catch(() => undefined);
    if (guard.enforces) throw new RobotsUndecidedError(url.href);
  } else if (verdict !== undefined) throw refusalFor(verdict);
}

/** Whether axios sends by `fetch`: it takes the first adapter that works, and in Node `xhr` does not. */
function usesFetch(adapter: unknown): boolean {
  const names: readonly unknown[] = Array.isArray(adapter) ? adapter : [adapter];
  return names.find((name) => name !== 'xhr') === 'fetch';
}

function urlOf(text: string): URL {
  try {
    return new URL(text);
  } catch (cause) {
    throw new RobotsInvalidUrlError(text, { cause });
  }
}
