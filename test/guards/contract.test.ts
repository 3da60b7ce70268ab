import { once } from 'node:events';
import { Readable } from 'node:stream';
import axiosRetry from 'axios-retry';
import { describe, it } from 'vitest';
import { guardAxios } from '../../src/guards/axios/axios.ts';
import { gotHooks } from '../../src/guards/got/got.ts';
import type { ThrowingGuardOptions } from '../../src/guards/shared/options.ts';
import { robotsInterceptor } from '../../src/guards/undici/undici.ts';
import { guardFetch, type RobotsClient } from '../../src/index.ts';
import {
  type GetPage,
  guardContract,
  type GuardedClient,
  type PageRequest,
  type PageStream,
} from './contract.ts';
import { isThorough } from '../support/thorough.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

/**
 * The contract of a client that loads from some version of Node on. The versions are those of "What is served" in
 * `src/package/README.md`: the oldest and the newest of each client.
 */
async function contractFrom(
  [needsMajor, needsMinor]: readonly [major: number, minor: number],
  name: string,
  load: () => Promise<Omit<GuardedClient, 'name'>>,
): Promise<void> {
  if (major > needsMajor || (major === needsMajor && minor >= needsMinor)) {
    guardContract({ name, ...(await load()) });
    return;
  }
  describe.skip(`the contract of guards: ${name}`, () => {
    it(`needs Node ${needsMajor}.${needsMinor}, this is ${process.version}`, () => undefined);
  });
}

const GOT = 'the hooks of got see responses that were read';
const AXIOS = 'the interceptors of axios see responses that were read';
const ANY_NODE = [20, 19] as const;

/** The contract of the oldest supported version. `npm test` leaves it to the thorough tests. */
const contractOfOldest: typeof contractFrom = async (node, name, load) => {
  if (isThorough) await contractFrom(node, name, load);
};

/** The part of any fetch that the contract uses: their types differ in name only. */
type AnyFetch = (
  url: string,
  init?: PageRequest,
) => Promise<{ readonly status: number; readonly body: unknown; text(): Promise<string> }>;

const byFetch =
  (fetch: AnyFetch): GetPage =>
  async (url, init) => {
    const response = await fetch(url, init);
    return { status: response.status, body: await response.text() };
  };

const guardedFetch = (fetch: AnyFetch): Omit<GuardedClient, 'name'> => ({
  waitsAtRedirects: true,
  make: (robots, options) => {
    const guarded = guardFetch(fetch, robots, options);
    return {
      get: byFetch(guarded),
      stream: async (url) => streamOf((await guarded(url)).body),
    };
  },
});

/** Reads a web stream by a reader, and a Node stream by its iterator. */
function streamOf(body: unknown): PageStream {
  if (body instanceof Readable) {
    const pieces = body[Symbol.asyncIterator]();
    return { read: async () => (await pieces.next()).done !== true, discard: () => void body.destroy() };
  }
  const reader = (body as ReadableStream).getReader();
  return { read: async () => !(await reader.read()).done, discard: () => void reader.cancel() };
}

await contractFrom(ANY_NODE, 'guardFetch around the global fetch', async () => guardedFetch(fetch));
await contractFrom(ANY_NODE, 'guardFetch around node-fetch 3', async () =>
  guardedFetch((await import('node-fetch')).default as AnyFetch),
);

for (const [version, node, load] of [
  ['7.0', ANY_NODE, () => import('undici-7.0')],
  ['7', ANY_NODE, () => import('undici')],
  ['8', [22, 19], () => import('undici-8')],
] as const) {
  const contract = version === '7.0' ? contractOfOldest : contractFrom;
  await contract(node, `guardFetch around the fetch of undici ${version}`, async () =>
    guardedFetch((await load()).fetch as AnyFetch),
  );

  await contract(node, `robotsInterceptor under request of undici ${version}`, async () => {
    const { Agent, interceptors, request } = (await load()) as typeof import('undici');
    return {
      waitsAtRedirects: true,
      make: (robots, options) => {
        const agent = new Agent();
        const guard = robotsInterceptor(robots, options);
        const redirect = interceptors.redirect({ maxRedirections: 20 });
        const dispatcher = agent.compose(interceptors.dns(), guard, redirect);
        const retry = interceptors.retry({ maxRetries: 1, minTimeout: 1, statusCodes: [500] });
        const by =
          (through: typeof dispatcher): GetPage =>
          async (url, init = {}) => {
            const { statusCode, body } = await request(url, { ...init, dispatcher: through });
            return { status: statusCode, body: await body.text() };
          };
        return {
          get: by(dispatcher),
          retrying: by(agent.compose(interceptors.dns(), guard, retry, redirect)),
          stream: async (url) => streamOf((await request(url, { dispatcher })).body),
          close: () => agent.destroy(),
        };
      },
    };
  });

  await contract(node, `robotsInterceptor under the fetch of undici ${version}`, async () => {
    const { Agent, fetch: send } = (await load()) as typeof import('undici');
    return {
      waitsAtRedirects: true,
      hidesRedirects: 'to an interceptor each redirect of fetch is a request of its own',
      tellsAbortsLate: true,
      make: (robots, options) => {
        const agent = new Agent();
        const dispatcher = agent.compose(robotsInterceptor(robots, options));
        return {
          get: byFetch((url, init) => send(url, { ...init, dispatcher })),
          stream: async (url) => streamOf((await send(url, { dispatcher })).body),
          close: () => agent.destroy(),
        };
      },
    };
  });
}

for (const [version, node, load] of [
  ['12.0', ANY_NODE, () => import('got-12')],
  ['14', ANY_NODE, () => import('got')],
  ['16', [22, 0], () => import('got-16')],
] as const) {
  const contract = version === '12.0' ? contractOfOldest : contractFrom;
  await contract(node, `gotHooks of got ${version}`, async () => {
    const { default: got } = (await load()) as typeof import('got');
    return {
      waitsAtRedirects: true,
      readsBodyFirst: GOT,
      ...(version === '12.0' ? { unabortable: 'its requests take no signal' } : {}),
      make: (robots, options) => {
        const guarded = got.extend(gotHooks(robots, options), { retry: { limit: 0 } });
        const by =
          (settings: object): GetPage =>
          async (url, init = {}) => {
            const { statusCode, body } = await guarded(url, { ...init, ...settings, methodRewriting: true });
            return { status: statusCode, body };
          };
        return {
          get: by({}),
          retrying: by({ retry: { limit: 1, calculateDelay: retryAtOnce } }),
          stream: async (url) => {
            const body = guarded.stream(url);
            await once(body, 'response');
            return streamOf(body);
          },
        };
      },
    };
  });
}

/** got's back-off, cut to a millisecond. */
const retryAtOnce = ({ computedValue }: { readonly computedValue: number }): number => computedValue && 1;

type Axios = typeof import('axios').default;

const byAxios = (
  axios: Axios,
  robots: RobotsClient,
  adapter: 'http' | 'fetch' | undefined,
  options?: ThrowingGuardOptions,
): ReturnType<GuardedClient['make']> => {
  const settings = { responseType: 'text', ...(adapter === undefined ? {} : { adapter }) } as const;
  const by =
    (guarded: ReturnType<Axios['create']>): GetPage =>
    async (url, { body, ...init } = {}) => {
      const { status, data } = await guarded.request<string>({ url, data: body, ...init });
      return { status, body: data };
    };
  const retrying = axios.create(settings);
  // Before the guard, which then does not see the errors of attempts.
  axiosRetry(retrying as never, { retries: 1, retryDelay: () => 1, retryCondition: () => true });
  return {
    get: (url, request) => by(guardAxios(axios.create(settings), robots, options))(url, request),
    retrying: by(guardAxios(retrying, robots, options)),
    stream: async (url) => {
      const guarded = guardAxios(axios.create(settings), robots, options);
      return streamOf((await guarded.request({ url, responseType: 'stream' })).data);
    },
  };
};

await contractOfOldest(ANY_NODE, 'guardAxios of axios 1.1', async () => {
  const { default: axios } = await import('axios-1.1');
  return {
    waitsAtRedirects: false,
    readsBodyFirst: AXIOS,
    make: (robots, options) => {
      // Its header fields become invalid when axios-retry sends a config again, without a guard, too.
      const { get, stream } = byAxios(axios as unknown as Axios, robots, undefined, options);
      return { get, ...(stream && { stream }) };
    },
  };
});

for (const adapter of ['http', 'fetch'] as const) {
  await contractFrom(ANY_NODE, `guardAxios with adapter '${adapter}'`, async () => {
    const { default: axios } = await import('axios');
    return {
      waitsAtRedirects: adapter === 'fetch',
      ...(adapter === 'http' ? { readsBodyFirst: AXIOS } : {}),
      make: (robots, options) => byAxios(axios, robots, adapter, options),
    };
  });
}

for (const onDisallow of ['throw', 'response'] as const) {
  for (const [version, node, load] of [
    ['1.0', ANY_NODE, () => import('ky-1.0')],
    ['1', ANY_NODE, () => import('ky')],
    ['2', [22, 0], () => import('ky-2')],
  ] as const) {
    const contract = version === '1.0' ? contractOfOldest : contractFrom;
    await contract(node, `ky ${version} over guardFetch with onDisallow: '${onDisallow}'`, async () => {
      const { default: ky } = (await load()) as typeof import('ky');
      return {
        waitsAtRedirects: true,
        ...(version === '1.0'
          ? { hearsAbortsOnly: 'it does not look whether its signal is aborted already' }
          : {}),
        make: (robots, options) => {
          const guarded = ky.create({
            fetch: guardFetch(fetch, robots, { ...options, onDisallow }),
            retry: 0,
          });
          // ky 1.0 counts the first attempt, too.
          const limit = version === '1.0' ? 2 : 1;
          const retrying = guarded.extend({ retry: { limit, backoffLimit: 1 } });
          return {
            get: byFetch((url, init) => guarded(url, init)),
            retrying: byFetch((url, init) => retrying(url, init)),
          };
        },
      };
    });
  }

  for (const [version, load] of [
    ['1.3', () => import('ofetch-1.3')],
    ['1', () => import('ofetch')],
  ] as const) {
    const contract = version === '1.3' ? contractOfOldest : contractFrom;
    await contract(
      ANY_NODE,
      `ofetch ${version} over guardFetch with onDisallow: '${onDisallow}'`,
      async () => {
        const { createFetch } = (await load()) as typeof import('ofetch');
        return {
          waitsAtRedirects: true,
          make: (robots, options) => {
            const guarded = createFetch({
              fetch: guardFetch(fetch, robots, { ...options, onDisallow }),
              Headers,
              AbortController,
              defaults: { retry: 0 },
            });
            const by =
              (retry: object): GetPage =>
              async (url, init) => {
                const settings = { ...init, ...retry, responseType: 'text' } as const;
                const { status, _data } = await guarded.raw<string, 'text'>(url, settings);
                return { status, body: _data ?? '' };
              };
            return { get: by({}), retrying: by({ retry: 1, retryDelay: 1 }) };
          },
        };
      },
    );
  }
}
