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
import { otherMajor } from '../support/other-major.ts';

type Load = () => Promise<Omit<GuardedClient, 'name'> | undefined>;

/** Each library with a guard, as the contract tries it: `[name, load]`. `load` gives nothing where it is not installed. */
type Contracts = (readonly [name: string, load: Load])[];

/** One of each kind, in the major version that is installed here. */
const usual: Contracts = [];
/** Other major versions, and further ways over the same code. */
const further: Contracts = [];

export async function tryUsualLibraries(): Promise<void> {
  for (const each of usual) await tryContract(...each);
}

export async function tryFurtherLibraries(): Promise<void> {
  for (const each of further) await tryContract(...each);
}

async function tryContract(name: string, load: Load): Promise<void> {
  const client = await load();
  if (client !== undefined) guardContract({ name, ...client });
  else
    describe.skip(`the contract of guards: ${name}`, () => {
      it('needs another major version', () => undefined);
    });
}

function add(contracts: Contracts, name: string, load: Load): void {
  contracts.push([name, load]);
}

const GOT = 'the hooks of got see responses that were read';
const AXIOS = 'the interceptors of axios see responses that were read';

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

usual.push(
  ['guardFetch around the global fetch', async () => guardedFetch(fetch)],
  [
    'guardFetch around node-fetch 3',
    async () => guardedFetch((await import('node-fetch')).default as AnyFetch),
  ],
);

type Undici = typeof import('undici');

for (const [version, load] of [
  ['7', () => import('undici')],
  ['8', () => otherMajor<Undici>('undici-8')],
] as const) {
  add(further, `guardFetch around the fetch of undici ${version}`, async () => {
    const undici = await load();
    return undici && guardedFetch(undici.fetch as AnyFetch);
  });
  const contracts = version === '7' ? usual : further;

  add(contracts, `robotsInterceptor under request of undici ${version}`, async () => {
    const undici = await load();
    if (undici === undefined) return undefined;
    const { Agent, interceptors, request } = undici;
    return {
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

  add(contracts, `robotsInterceptor under the fetch of undici ${version}`, async () => {
    const undici = await load();
    if (undici === undefined) return undefined;
    const { Agent, fetch: send } = undici;
    return {
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

for (const [version, load] of [
  ['14', () => import('got')],
  ['15', () => otherMajor<typeof import('got')>('got-15')],
  ['16', () => otherMajor<typeof import('got')>('got-16')],
] as const) {
  add(version === '14' ? usual : further, `gotHooks of got ${version}`, async () => {
    const library = await load();
    if (library === undefined) return undefined;
    const { default: got } = library;
    return {
      readsBodyFirst: GOT,
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
  // The guard first: it then sees the end of each attempt.
  const retrying = guardAxios(axios.create(settings), robots, options);
  axiosRetry(retrying as never, { retries: 1, retryDelay: () => 1, retryCondition: () => true });
  return {
    get: (url, request) => by(guardAxios(axios.create(settings), robots, options))(url, request),
    retrying: by(retrying),
    stream: async (url) => {
      const guarded = guardAxios(axios.create(settings), robots, options);
      return streamOf((await guarded.request({ url, responseType: 'stream' })).data);
    },
  };
};

for (const adapter of ['http', 'fetch'] as const) {
  add(usual, `guardAxios with adapter '${adapter}'`, async () => {
    const { default: axios } = await import('axios');
    return {
      ...(adapter === 'http' ? { readsBodyFirst: AXIOS } : {}),
      make: (robots, options) => byAxios(axios, robots, adapter, options),
    };
  });
}

for (const onDisallow of ['throw', 'response'] as const) {
  for (const [version, load] of [
    ['1', () => import('ky')],
    ['2', () => otherMajor<typeof import('ky')>('ky-2')],
  ] as const) {
    add(
      version === '1' && onDisallow === 'throw' ? usual : further,
      `ky ${version} over guardFetch with onDisallow: '${onDisallow}'`,
      async () => {
        const library = await load();
        if (library === undefined) return undefined;
        const { default: ky } = library;
        return {
          make: (robots, options) => {
            const guarded = ky.create({
              fetch: guardFetch(fetch, robots, { ...options, onDisallow }),
              retry: 0,
            });
            const retrying = guarded.extend({ retry: { limit: 1, backoffLimit: 1 } });
            return {
              get: byFetch((url, init) => guarded(url, init)),
              retrying: byFetch((url, init) => retrying(url, init)),
            };
          },
        };
      },
    );
  }

  add(
    onDisallow === 'throw' ? usual : further,
    `ofetch 1 over guardFetch with onDisallow: '${onDisallow}'`,
    async () => {
      const { createFetch } = await import('ofetch');
      return {
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
