import axios from 'axios';
import got from 'got';
import { Agent, fetch as undiciFetch, interceptors, request } from 'undici';
import { guardAxios } from '../../src/guard/axios.ts';
import { gotHooks } from '../../src/guard/got.ts';
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
  (robots: RobotsClient, adapter: 'http' | 'fetch'): GetPage =>
  async (url, { body, ...init } = {}) => {
    const guarded = guardAxios(axios.create({ adapter, responseType: 'text' }), robots);
    const { status, data } = await guarded.request<string>({ url, data: body, ...init });
    return { status, body: data };
  };

guardContract({
  name: 'guardFetch around the global fetch',
  waitsAtRedirects: true,
  make: (robots) => ({ get: byFetch(guardFetch(fetch, robots)) }),
});

guardContract({
  name: 'guardFetch around the fetch of undici',
  waitsAtRedirects: true,
  make: (robots) => ({ get: byFetch(guardFetch(undiciFetchTyped, robots)) }),
});

guardContract({
  name: 'robotsInterceptor under request',
  waitsAtRedirects: true,
  make: (robots) => {
    const agent = new Agent();
    const dispatcher = agent.compose(
      robotsInterceptor(robots),
      interceptors.retry({ maxRetries: 1 }),
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
  make: (robots) => {
    const agent = new Agent();
    const dispatcher = agent.compose(robotsInterceptor(robots));
    return {
      get: byFetch((input, init) => undiciFetchTyped(input, Object.assign({ dispatcher }, init))),
      close: () => agent.destroy(),
    };
  },
});

guardContract({
  name: 'gotHooks',
  waitsAtRedirects: true,
  make: (robots) => {
    const guarded = got.extend(gotHooks(robots));
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
  make: (robots) => ({ get: byAxios(robots, 'http') }),
});

guardContract({
  name: "guardAxios with adapter: 'fetch'",
  waitsAtRedirects: true,
  make: (robots) => ({ get: byAxios(robots, 'fetch') }),
});
