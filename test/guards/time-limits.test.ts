import axios from 'axios';
import got from 'got';
import ky from 'ky';
import nodeFetch from 'node-fetch';
import { Agent, fetch as undiciFetch, interceptors, request } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { guardAxios } from '../../src/guards/axios/axios.ts';
import { gotHooks } from '../../src/guards/got/got.ts';
import { robotsInterceptor } from '../../src/guards/undici/undici.ts';
import { crawlReport, guardFetch, type GuardOptions, RobotsClient } from '../../src/index.ts';
import { opened, openedSite } from '../support/opened.ts';
import { answer, type Site } from '../support/site.ts';

type Options = Pick<GuardOptions, 'pacing' | 'timeoutMs'>;
/** Resolves with the text of a page. */
type Get = (url: string) => Promise<string>;

function overUndici(robots: RobotsClient, options: Options): Get {
  const agent = new Agent();
  opened({ [Symbol.asyncDispose]: () => agent.destroy() });
  const guard = robotsInterceptor(robots, options);
  const dispatcher = agent.compose(guard, interceptors.redirect({ maxRedirections: 5 }));
  return async (url) => (await request(url, { dispatcher })).body.text();
}

const overFetch =
  (fetch: typeof globalThis.fetch) =>
  (robots: RobotsClient, options: Options): Get => {
    const guarded = guardFetch(fetch, robots, options);
    return async (url) => (await guarded(url)).text();
  };

const libraries: Readonly<Record<string, (robots: RobotsClient, options: Options) => Get>> = {
  fetch: overFetch(fetch),
  'the fetch of undici': overFetch(undiciFetch as unknown as typeof fetch),
  'node-fetch': overFetch(nodeFetch as unknown as typeof fetch),
  'undici, request': overUndici,
  'axios over fetch': (robots, options) => {
    const polite = guardAxios(axios.create({ adapter: 'fetch' }), robots, options);
    return async (url) => (await polite.get<string>(url)).data;
  },
  ky: (robots, options) => {
    const polite = ky.create({ timeout: false, retry: 0, fetch: guardFetch(fetch, robots, options) });
    return (url) => polite(url).text();
  },
};

/** Answers neither `/silent` nor the rest of `/stalled`. */
function slowSite(): Promise<Site> {
  return openedSite((incoming, response) => {
    if (incoming.url === '/silent') return;
    if (incoming.url === '/stalled') return void response.writeHead(200).write('the first part');
    if (incoming.url === '/from') return answer(response, { status: 302, headers: { location: '/silent' } });
    answer(response, { body: incoming.url === '/robots.txt' ? '' : 'a page' });
  });
}

async function crawl(make: (robots: RobotsClient, options: Options) => Get, options: Options) {
  const site = await slowSite();
  const robots = opened(new RobotsClient({ agent: 'ExampleBot' }));
  const { timeoutMs: _, ...others } = options;
  return { site, robots, get: make(robots, options), unlimited: make(robots, others) };
}

/** By then a header has come, however busy the machine. */
const LIMIT_MS = 1_000;
/** As many as take longer than the limit, one after another. */
const PAGES = Array.from({ length: 12 }, (_, page) => `/${page}`);

/** Each library beside the others: they wait for the same time. */
async function byEach(holds: (make: (typeof libraries)[string], library: string) => Promise<void>) {
  const tried = Object.entries(libraries).map(([library, make]) =>
    holds(make, library).catch((cause: unknown) => {
      throw new Error(library, { cause });
    }),
  );
  await Promise.all(tried);
}

describe('a request whose time is limited, by each library,', () => {
  it('does not spend its time in the queue', () =>
    byEach(async (make) => {
      const { site, get } = await crawl(make, { pacing: { defaultDelayMs: 100 }, timeoutMs: LIMIT_MS });
      const startedAt = performance.now();
      const texts = await Promise.all(PAGES.map((path) => get(site.url(path))));
      expect(performance.now() - startedAt).toBeGreaterThan(LIMIT_MS);
      expect(texts).toEqual(PAGES.map(() => 'a page'));
    }));

  it.each([
    ['without a response', '/silent', false],
    ['without a response after a redirect', '/from', false],
    ['in the middle of its body, which is no sign of an outage', '/stalled', true],
  ])('fails %s, and frees its permit', (_, path, reachable) =>
    byEach(async (make, library) => {
      const options = { pacing: { defaultDelayMs: 0 }, timeoutMs: LIMIT_MS };
      const { site, robots, get, unlimited } = await crawl(make, options);
      // node-fetch has its own error for every body that is aborted.
      const name = library === 'node-fetch' && reachable ? 'AbortError' : 'TimeoutError';
      await expect(get(site.url(path))).rejects.toMatchObject({ name });
      const { site: seen, pacing } = await robots.policy(site.origin);
      expect([seen?.reachable, pacing?.inFlight]).toEqual([reachable, []]);
      expect(await unlimited(site.url('/page'))).toBe('a page');
    }),
  );

  it('fails without pacing, too', () =>
    byEach(async (make) => {
      const { site, get } = await crawl(make, { timeoutMs: 100 });
      await expect(get(site.url('/silent'))).rejects.toMatchObject({ name: 'TimeoutError' });
    }));
});

it('the limit of got and of axios counts from sending', async () => {
  const own: ((robots: RobotsClient, options: Options) => Get)[] = [
    (robots, options) => {
      const polite = got.extend({ timeout: { request: LIMIT_MS } }, gotHooks(robots, options));
      return (url) => polite(url).text();
    },
    (robots, options) => {
      const polite = guardAxios(axios.create({ timeout: LIMIT_MS }), robots, options);
      return async (url) => (await polite.get<string>(url)).data;
    },
  ];
  const crawls = own.map(async (make) => {
    const { site, get } = await crawl(make, { pacing: { defaultDelayMs: 100 } });
    return Promise.all(PAGES.map((path) => get(site.url(path))));
  });
  expect((await Promise.all(crawls)).flat()).toEqual([...PAGES, ...PAGES].map(() => 'a page'));
});

it('a request of undici fails while it waits for a connection, and once', async () => {
  const site = await slowSite();
  const robots = opened(new RobotsClient({ agent: 'ExampleBot' }));
  const agent = new Agent({ connections: 1 });
  const held = request(site.url('/silent'), { dispatcher: agent }).catch(() => undefined);
  const ended = vi.fn();
  const dispatcher = agent.compose(
    robotsInterceptor(robots, { timeoutMs: 100 }),
    (dispatch) => (options, handler) =>
      dispatch(options, {
        onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
        onResponseError: (controller, error) => {
          ended(error.name);
          handler.onResponseError?.(controller, error);
        },
      }),
  );
  const waiting = request(site.url('/page'), { dispatcher });
  await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
  await agent.destroy();
  await held;
  expect(ended.mock.calls).toEqual([['TimeoutError']]);
});

/** In virtual time. Each page responds after `ms`, or with the abort of its signal. */
describe('the time of a request', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  const URL_OF = (page: number): string => `https://example.com/${page}`;

  function slowFetch(ms: number, respond: (url: string) => Response = () => new Response('a page')) {
    const signals: (AbortSignal | null | undefined)[] = [];
    const send = (url: string, init?: RequestInit): Promise<Response> =>
      new Promise((resolve, reject) => {
        signals.push(init?.signal);
        setTimeout(() => resolve(respond(url)), ms);
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    const robots = opened(
      new RobotsClient({ agent: 'ExampleBot', overrides: { 'https://example.com': { text: '' } } }),
    );
    return { send, signals, robots };
  }

  it('begins anew with each redirect', async () => {
    const next = (url: string): Response => {
      const page = Number(url.slice(-1));
      return page === 4
        ? new Response('a page')
        : new Response(null, { status: 302, headers: { location: URL_OF(page + 1) } });
    };
    const { send, robots } = slowFetch(600, next);
    const getting = guardFetch(send, robots, { timeoutMs: 1_000 })(URL_OF(0));
    await vi.advanceTimersByTimeAsync(3_000);
    expect((await getting).url).toBe(URL_OF(4));
  });

  it('ends with the body, and nothing is left of it', async () => {
    const { send, robots } = slowFetch(600);
    const given = new AbortController();
    const getting = guardFetch(send, robots, { timeoutMs: 1_000 })(URL_OF(0), { signal: given.signal });
    await vi.advanceTimersByTimeAsync(600);
    const response = await getting;
    expect(vi.getTimerCount()).toBe(1);
    await response.text();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('goes on while nobody reads the body, after its permit', async () => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const { send, signals, robots } = slowFetch(0);
    const booking = await robots.reserve(URL_OF(0));
    if (booking.status === 'booked') booking.release();
    const getting = guardFetch(send, robots, { timeoutMs: 10_000, pacing: true })(URL_OF(0));
    await vi.advanceTimersByTimeAsync(0);
    await getting;
    await vi.advanceTimersByTimeAsync(9_999);
    expect((await robots.policy(URL_OF(0))).pacing?.inFlight).toEqual([]);
    expect(signals[0]?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(signals[0]?.reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('ends a fetch that heeds no signal, and is a timeout in the report', async () => {
    const { robots } = slowFetch(0);
    using report = crawlReport(robots);
    const never = (_url: string): Promise<Response> => new Promise(() => undefined);
    const getting = guardFetch(never, robots, { timeoutMs: 1_000 })(URL_OF(0));
    getting.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(1_000);
    await expect(getting).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(report.origins()[0]?.pages).toMatchObject({ timeout: 1 });
  });

  it.each([true, false])(
    'leaves the signal of the caller its effect, also aborted beforehand: %s',
    async (early) => {
      const { send, robots } = slowFetch(600);
      const given = new AbortController();
      const reason = new Error('changed my mind');
      const polite = guardFetch(send, robots, { timeoutMs: 1_000, filter: () => false });
      if (early) given.abort(reason);
      const getting = polite(URL_OF(0), { signal: given.signal });
      given.abort(reason);
      await expect(getting).rejects.toBe(reason);
      expect(vi.getTimerCount()).toBe(1);
    },
  );
});

describe('the option `timeoutMs`', () => {
  const robots = new RobotsClient({ agent: 'ExampleBot' });
  const INVALID = { code: 'ERR_ROBOTS_INVALID_OPTIONS' };

  it.each([0, -1, 1.5, NaN, Infinity, 2 ** 31, '5'])(
    'is a whole number of milliseconds, not %s',
    (timeoutMs) => {
      const options = { timeoutMs } as object;
      expect(() => guardFetch(fetch, robots, options)).toThrow(expect.objectContaining(INVALID));
      expect(() => robotsInterceptor(robots, options)).toThrow(expect.objectContaining(INVALID));
    },
  );

  it('is refused where the library has a limit of its own', async () => {
    const options = { timeoutMs: 5_000 } as object;
    expect(() => gotHooks(robots, options)).toThrow(/`timeoutMs`: only guardFetch/);
    const polite = guardAxios(axios.create(), robots, { timeoutMs: 5_000 });
    await expect(polite.get('https://example.com/')).rejects.toMatchObject(INVALID);
  });
});

describe('the time limit of the caller', () => {
  afterEach(() => void vi.restoreAllMocks());

  /** What the process is warned of, by modules that have not warned of anything yet. */
  async function warningsOf(
    run: (polite: typeof fetch, site: Site) => Promise<unknown>,
    { defaultDelayMs = 0, ...options }: { defaultDelayMs?: number; timeoutMs?: number } = {},
  ) {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    vi.resetModules();
    const { guardFetch, RobotsClient } = await import('../../src/index.ts');
    await using robots = new RobotsClient({ agent: 'ExampleBot' });
    const site = await slowSite();
    await robots.check(site.url('/'));
    await run(guardFetch(fetch, robots, { pacing: { defaultDelayMs }, ...options }), site).catch(
      () => undefined,
    );
    return { site, warnings: warned.mock.calls as unknown[][] };
  }
  const soon = () => ({ signal: AbortSignal.timeout(20) });

  it('is warned of once, where it ends in the queue', async () => {
    const queuing = async (polite: typeof fetch, site: Site): Promise<void> => {
      for (const page of [1, 2])
        await expect(polite(site.url(`/${page}`), soon())).rejects.toMatchObject({ name: 'TimeoutError' });
    };
    const { site, warnings } = await warningsOf(queuing, { defaultDelayMs: 60_000 });
    expect(warnings).toEqual([
      [
        expect.stringMatching(`${site.url('/1')} .*\`timeoutMs\``),
        { type: 'RobotsWarning', code: 'CANFETCH_TIMEOUT_IN_QUEUE' },
      ],
    ]);
    const limited = { defaultDelayMs: 60_000, timeoutMs: 5_000 };
    const get = (polite: typeof fetch, { url }: Site): Promise<unknown> => polite(url('/page'), soon());
    vi.restoreAllMocks();
    expect((await warningsOf(get, limited)).warnings).toEqual([]);
  });

  it('is warned of where robots.txt does not come', async () => {
    const silent = await openedSite(() => undefined);
    const url = silent.url('/page');
    for (const get of [
      (polite: typeof fetch) => polite(url, soon()),
      (polite: typeof fetch) => axios.get(url, { adapter: 'fetch', timeout: 20, env: { fetch: polite } }),
    ]) {
      const { warnings } = await warningsOf(get);
      expect(warnings).toMatchObject([[expect.stringContaining(url), {}]]);
      vi.restoreAllMocks();
    }
  });

  it('is warned of neither where it ends a request that was sent, nor where another abort ends the wait', async () => {
    const leaving = new AbortController();
    const silent = await openedSite(() => leaving.abort());
    const { warnings } = await warningsOf(async (polite, site) => {
      await polite(silent.url('/page'), { signal: leaving.signal }).catch(() => undefined);
      await polite(site.url('/silent'), soon());
    });
    expect(warnings).toEqual([]);
  });
});
