import { RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { OWN_REQUEST } from '../../core/fetch/transport.ts';
import { guardFetch } from '../fetch/fetch.ts';
import type { RobotsClient } from '../../core/client/index.ts';
import {
  assertThrowing,
  type GuardOptions,
  guardedTwice,
  type ThrowingGuardOptions,
} from '../shared/options.ts';
import { Guard } from '../shared/guard.ts';
import { assertServed, type AxiosLike, earlierAxios, usesFetch } from './instance.ts';
import { type Config, NodeRequests } from './node-requests.ts';

export { type AxiosLike, axiosTransport } from './instance.ts';
export type { RobotsInit, ThrowingGuardOptions } from '../shared/options.ts';

/**
 * Adds a request interceptor to an axios instance. It checks each request, and each redirect it meets, against the
 * robots.txt of its own origin before it is sent.
 *
 * A request or redirect that may not be made rejects with `RobotsDisallowedError` (`ERR_ROBOTS_DISALLOWED`) or
 * `RobotsUnreachableError` (`ERR_ROBOTS_UNREACHABLE`, with `retryAt`).
 *
 * Over Node's HTTP each redirect is a request of its own, so `timeout` begins anew. `adapter: 'fetch'` needs axios 1.12. An
 * `adapter` or `transport` of your own may follow redirects that no guard sees.
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
  const requests = new NodeRequests(instance, new Guard(client, options));
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
      return requests.guard(config);
    }
    takesFetch ??= callsGivenFetch(instance);
    if (!(await takesFetch)) {
      throw earlierAxios();
    }
    config.env = { ...config.env, fetch: guarded(config.env?.fetch) };
    if (config.robots !== undefined) config.fetchOptions = { ...config.fetchOptions, robots: config.robots };
    return config;
  };
  const { request } = instance.interceptors;
  (request.use as (onFulfilled: typeof onRequest) => number).call(request, onRequest);
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
