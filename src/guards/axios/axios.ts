import { RobotsInvalidOptionsError, RobotsInvalidUrlError } from '../../core/base/index.ts';
import { guardFetch } from '../fetch/fetch.ts';
import type { GuardClient } from '../shared/client.ts';
import type { EditableHeaders } from '../shared/header-copy.ts';
import { ignoredBecause } from '../shared/ignore.ts';
import { assertThrowing, type ThrowingGuardOptions } from '../shared/options.ts';
import { type Refusal, RobotsUndecidedError } from '../shared/refusal.ts';
import type { NodeHeaders } from '../shared/answer.ts';
import { Guard } from '../shared/guard.ts';
import { Hop } from '../shared/hop.ts';
import { NodeAnswers } from '../shared/node-answers.ts';

export type { GuardClient } from '../shared/client.ts';
export type { OtherIdentity } from '../shared/identity.ts';
export type { RobotsInit } from '../shared/ignore.ts';
export type { IgnoredRequest, ThrowingGuardOptions } from '../shared/options.ts';

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
  readonly headers: NodeHeaders;
  readonly config: Config;
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
  readonly adapter?: unknown;
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
  assertServed(instance);
  const requests = new AxiosRequests(
    instance,
    new Guard(client, options, { seesHeaders: true, answers: new NodeAnswers() }),
  );
  const guardedFetches = new WeakMap<object, unknown>();
  /** axios caches an adapter per `fetch` function, so one fetch must always give the same guarded fetch. */
  const guarded = (fetch: unknown): unknown => {
    const inner = (typeof fetch === 'function' ? fetch : globalThis.fetch) as typeof globalThis.fetch;
    const known = guardedFetches.get(inner) ?? guardFetch(inner, client, options);
    guardedFetches.set(inner, known);
    return known;
  };
  const onRequest = async (config: Config): Promise<Config> => {
    if (!usesFetch(config.adapter)) return requests.begin(config);
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
  return instance;
}

/**
 * Instances of axios 1 are made of a class and so have its `constructor`, or a list of adapters (from 1.2 on). Those of axios 0
 * have neither, and header fields and redirects that no guard can read.
 */
function assertServed(instance: AxiosLike): void {
  const defaults: unknown = Reflect.get(instance, 'defaults');
  const adapter: unknown = Reflect.get(Object(defaults), 'adapter');
  if (typeof adapter !== 'function' || Object.hasOwn(instance, 'constructor')) return;
  throw new RobotsInvalidOptionsError(
    'Expected an instance of axios 1, got one of axios 0, which cannot be guarded; update the package `axios`',
  );
}

/** The requests that axios sends by Node's HTTP. Those by `fetch` go through `guardFetch`. */
class AxiosRequests {
  readonly #instance: AxiosLike;
  readonly #guard: Guard;
  /** The hop that a request has come to. */
  readonly #hops = new WeakMap<Config, Hop>();

  constructor(instance: AxiosLike, guard: Guard) {
    this.#instance = instance;
    this.#guard = guard;
  }

  async begin(config: Config): Promise<Config> {
    const url = urlOf(this.#instance.getUri(config));
    const because = ignoredBecause(config.robots);
    if (config.headers !== undefined) this.#guard.identity?.identify(url, config.headers);
    const hop = new Hop(url, { signal: config.signal, because });
    this.#hops.set(config, hop);
    try {
      await this.#guard.pass(hop);
    } catch (error) {
      // axios checks the signal next, and rejects with its own error, which `isCancel` recognizes.
      if (config.signal?.aborted !== true) throw error;
    }
    const { beforeRedirect } = config;
    config.beforeRedirect = (redirect, answer, ...details) => {
      beforeRedirect?.(redirect, answer, ...details);
      const from = this.#hops.get(config) ?? hop;
      if (answer?.statusCode === undefined) this.#guard.record(from);
      else this.#guard.conclude(from, answer.statusCode, answer.headers ?? {});
      // A redirect cannot wait, neither for a decision nor for a slot.
      const next = from.redirectedTo(urlOf(redirect.href ?? ''), { ...hop.options, waits: false });
      this.#hops.set(config, next);
      this.#admitAtOnce(next);
    };
    return config;
  }

  end(response: AxiosResponseLike): AxiosResponseLike {
    const refusal = this.#look(response);
    if (refusal !== undefined) throw refusal;
    return response;
  }

  fail(error: unknown): Promise<never> {
    if (isAxiosFailure(error)) {
      const { response, config } = error;
      const hop = this.#hops.get(config);
      if (response !== undefined) this.#look(response);
      else if (hop !== undefined) this.#guard.fail(hop, error);
    }
    return Promise.reject(error);
  }

  #look({ status, headers, config }: AxiosResponseLike): Refusal | undefined {
    const hop = this.#hops.get(config);
    return hop && this.#guard.conclude(hop, status, { ...headers });
  }

  #admitAtOnce(hop: Hop): void {
    const admitted = this.#guard.admit(hop);
    if (admitted instanceof Promise) {
      // The client fetches robots.txt now, so that a repeated request can be decided. A dry run tells of a refusal then.
      admitted.catch(() => undefined);
      if (this.#guard.enforces) throw new RobotsUndecidedError(String(hop.url), hop.way);
    } else if (admitted !== undefined) throw admitted;
    void this.#guard.leave(hop);
  }
}

function isAxiosFailure(
  error: unknown,
): error is { readonly config: Config; readonly response?: AxiosResponseLike } {
  const config: unknown = error instanceof Error ? Reflect.get(error, 'config') : undefined;
  return typeof config === 'object' && config !== null;
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
