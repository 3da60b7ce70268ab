import axios from 'axios';
import got from 'got';
import { Agent, fetch as undiciFetch, interceptors, request } from 'undici';
import { guardAxios } from '../../src/guard/axios.ts';
import { gotHooks } from '../../src/guard/got.ts';
import type { ThrowingGuardOptions } from '../../src/guard/options.ts';
import { robotsInterceptor } from '../../src/guard/undici.ts';
import { guardFetch, type RobotsClient } from '../../src/index.ts';
import { type GetPage, guardContract } from './contract.ts';

const byFetch =
  (fetch: typeof globalThis.fetch): GetPage =>
  async (url, init) => {
    const response = await fetch(url, init);
    return { status: response.status, body: await response.text() };
  };

/** undici's fetch gives and takes what Node's does; only the names of the types differ. */
const undiciFetchTyped = undiciFetch as unknown as typeof fetch;

const byAxios =
  (robots: RobotsClient, adapter: 'http' | 'fetch', options?: ThrowingGuardOptions): GetPage =>
  async (url, { body, ...init } = {}) => {
    const guarded = guardAxios(axios.create({ adapter, responseType: 'text' }), robots, options);
    const { status, data } = await guarded.request<string>({ url, data: body, ...init });
    return { status, body: data };
  };

guardContract({
  name: 'guardFetch around the global fetch',
  waitsAtRedirects: true,
  make: (robots, options) => ({ get: byFetch(guardFetch(fetch, robots, options)) }),
});

guardContract({
  name: 'guardFetch around the fetch of undici',
  waitsAtRedirects: true,
  make: (robots, options) => ({ get: byFetch(guardFetch(undiciFetchTyped, robots, options)) }),
});

guardContract({
  name: 'robotsInterceptor under request',
  waitsAtRedirects: true,
  make: (robots, options) => {
    const agent = new Agent();
    const dispatcher = agent.compose(
      robotsInterceptor(robots, options),
      interceptors.redirect({ maxRedirections: 20 }),
    );
    return {
      get: async (url, init = {}) => {
        const { statusCode, body } = await request(url, { ...init, dispatcher });
        return { status: statusCode, body: await body.text() };
      },
      close: () => agent.destroy(),
    };
  },
});

guardContract({
  name: 'robotsInterceptor under the fetch of undici',
  waitsAtRedirects: true,
  make: (robots, options) => {
    const agent = new Agent();
    const dispatcher = agent.compose(robotsInterceptor(robots, options));
    return {
      get: byFetch((input, init) => undiciFetchTyped(input, Object.assign({ dispatcher }, init))),
      close: () => agent.destroy(),
    };
  },
});

guardContract({
  name: 'gotHooks',
  waitsAtRedirects: true,
  make: (robots, options) => {
    const guarded = got.extend(gotHooks(robots, options), { retry: { limit: 0 } });
    return {
      get: async (url, init = {}) => {
        const { statusCode, body } = await guarded(url, { ...init, methodRewriting: true });
        return { status: statusCode, body };
      },
    };
  },
});

guardContract({
  name: 'guardAxios',
  waitsAtRedirects: false,
  make: (robots, options) => ({ get: byAxios(robots, 'http', options) }),
});

guardContract({
  name: "guardAxios with adapter: 'fetch'",
  waitsAtRedirects: true,
  make: (robots, options) => ({ get: byAxios(robots, 'fetch', options) }),
});
