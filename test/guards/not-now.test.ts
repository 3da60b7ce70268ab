import axios from 'axios';
import got from 'got';
import ky from 'ky';
import nodeFetch from 'node-fetch';
import { ofetch } from 'ofetch';
import { Agent, request } from 'undici';
import { describe, expect, it } from 'vitest';
import { virtualClock } from '../../src/extras/testing/index.ts';
import { guardAxios } from '../../src/guards/axios/axios.ts';
import { gotHooks } from '../../src/guards/got/got.ts';
import { robotsInterceptor } from '../../src/guards/undici/undici.ts';
import { guardFetch, retryAtOf, retryLater, RobotsClient, type PacingOptions } from '../../src/index.ts';
import { opened, openedClient } from '../support/opened.ts';
import { type Answer, startSite } from '../support/site.ts';

interface Guarding {
  readonly robots: RobotsClient;
  readonly options: { readonly pacing?: PacingOptions };
}

type Get = (url: string) => Promise<unknown>;

/** What each library ends with: the response, or its error for the status. */
const libraries: Readonly<Record<string, (guarding: Guarding) => Get>> = {
  fetch: ({ robots, options }) => guardFetch(fetch, robots, options),
  'node-fetch': ({ robots, options }) => guardFetch(nodeFetch as unknown as typeof fetch, robots, options),
  'undici, request': ({ robots, options }) => {
    const agent = new Agent();
    opened({ [Symbol.asyncDispose]: () => agent.destroy() });
    const dispatcher = agent.compose(robotsInterceptor(robots, options));
    return (url) => request(url, { dispatcher });
  },
  got: ({ robots, options }) => got.extend({ retry: { limit: 0 } }, gotHooks(robots, options)),
  'got without errors': ({ robots, options }) =>
    got.extend({ retry: { limit: 0 }, throwHttpErrors: false }, gotHooks(robots, options)),
  axios: ({ robots, options }) => guardAxios(axios.create(), robots, options),
  'axios, streams': ({ robots, options }) =>
    guardAxios(axios.create({ responseType: 'stream' }), robots, options),
  'axios over fetch': ({ robots, options }) =>
    guardAxios(axios.create({ adapter: 'fetch' }), robots, options),
  ky: ({ robots, options }) => ky.create({ retry: 0, fetch: guardFetch(fetch, robots, options) }),
  'ky without errors': ({ robots, options }) =>
    ky.create({ retry: 0, throwHttpErrors: false, fetch: guardFetch(fetch, robots, options) }),
  ofetch: ({ robots, options }) => {
    const guarded = guardFetch(fetch, robots, options);
    return (url) => ofetch.create({ retry: 0 }, { fetch: guarded }).raw(url);
  },
};

/** A site that answers `/page` so, the last of them again and again. */
async function busySite(...answers: Answer[]) {
  const clock = virtualClock({ autoAdvance: true });
  const site = opened(await startSite({ '/robots.txt': { status: 404 }, '/page': answers }));
  const { robots } = openedClient({ clock });
  const pages = (): number => site.requests.filter(({ url }) => url === '/page').length;
  return { clock, site, robots, pages };
}

const statusOf = (response: unknown): unknown =>
  Reflect.get(Object(response), 'status') ?? Reflect.get(Object(response), 'statusCode');
const outcomeOf = (task: Promise<unknown>): Promise<unknown> => task.catch((error: unknown) => error);
const BODY = 'busy '.repeat(100_000);

describe.each(Object.entries(libraries))('a page that says "not now", by %s', (_, guarded) => {
  it.each([
    [429, { 'retry-after': '600' }, 600_000],
    [503, {}, 27_000],
  ])('is got again after its pause: %i', async (status, headers, pauseMs) => {
    const { clock, site, robots, pages } = await busySite(
      { status, headers, body: BODY },
      { body: 'a page' },
    );
    const get = guarded({ robots, options: { pacing: {} } });
    const startedAt = clock.now();
    const response = await retryLater(() => get(site.url('/page')), { clock });
    expect([statusOf(response), pages()]).toEqual([200, 2]);
    expect(clock.now() - startedAt).toBeGreaterThanOrEqual(pauseMs);
    expect(retryAtOf(response)).toBeUndefined();
  });

  it('ends with the last outcome, which names the time for a job queue', async () => {
    const { clock, site, robots, pages } = await busySite({ status: 429, headers: { 'retry-after': '60' } });
    const get = guarded({ robots, options: { pacing: {} } });
    const outcome = await outcomeOf(retryLater(() => get(site.url('/page')), { clock, maxRetries: 1 }));
    expect(pages()).toBe(2);
    expect(retryAtOf(outcome)).toBeGreaterThan(clock.now() + 59_000);
    expect(retryAtOf(outcome)).toBeLessThanOrEqual(clock.now() + 60_000);
  });

  it('is a response like any other where nothing paces', async () => {
    const { clock, site, robots, pages } = await busySite({ status: 429, headers: { 'retry-after': '60' } });
    const get = guarded({ robots, options: {} });
    const outcome = await outcomeOf(retryLater(() => get(site.url('/page')), { clock }));
    expect([retryAtOf(outcome), pages()]).toEqual([undefined, 1]);
  });
});

describe('retryAtOf', () => {
  it('is `undefined` for other responses and errors, and for nothing at all', async () => {
    const { site, robots } = await busySite({ status: 500, headers: { 'retry-after': '60' } });
    const get = guardFetch(fetch, robots, { pacing: { pauseOnRefusal: true } });
    expect(retryAtOf(await get(site.url('/page')))).toBeUndefined();
    for (const outcome of [undefined, null, 429, 'busy', new Error('x'), { status: 429 }])
      expect(retryAtOf(outcome)).toBeUndefined();
  });

  it('knows the statuses of the pace, and no refusal that pauses', async () => {
    const { clock, site, robots } = await busySite({ status: 403 }, { status: 520 });
    const pacing = { pauseOnRefusal: true, maxDelayMs: 1e7, backOff: { statuses: [520] } };
    const get = guardFetch(fetch, robots, { pacing });
    expect(retryAtOf(await get(site.url('/page')))).toBeUndefined();
    expect(retryAtOf(await get(site.url('/page')))).toBeGreaterThan(clock.now());
  });

  it('is that of a deferral, and of robots.txt that is unreachable; a refusal has none', async () => {
    const clock = virtualClock();
    let status = 503;
    const respond = async (): Promise<Response> => new Response('User-agent: *\nDisallow: /no\n', { status });
    const { robots } = openedClient({ clock, transport: { fetch: respond } });
    const get = guardFetch(respond as typeof fetch, robots, { pacing: { maxDelayMs: 0 } });
    const unreachable = await outcomeOf(get('https://a.example/'));
    expect(retryAtOf(new Error('wrapped', { cause: unreachable }))).toBeGreaterThan(clock.now());
    status = 200;
    clock.advance(60_000);
    expect(retryAtOf(await outcomeOf(get('https://a.example/no')))).toBeUndefined();
    const deferred = await outcomeOf(get('https://a.example/'));
    expect(deferred).toMatchObject({ code: 'ERR_ROBOTS_DEFERRED', retryAt: retryAtOf(deferred) });
  });
});

it('retryLater refuses what is no task', async () => {
  const page: object = Promise.resolve();
  await expect(retryLater(page as never)).rejects.toMatchObject({
    code: 'ERR_ROBOTS_INVALID_OPTIONS',
    message: expect.stringContaining('a function that returns a promise'),
  });
});

it.each(['got', 'got without errors', 'axios', 'axios over fetch', 'ofetch'])(
  'a 429 whose body breaks off is "not now" by its status: %s',
  async (name) => {
    const site = opened(
      await startSite((incoming, response) => {
        if (incoming.url === '/robots.txt') return void response.writeHead(404).end();
        response.writeHead(429, { 'retry-after': '60', 'content-length': '100' });
        response.write('later', () => response.destroy());
      }),
    );
    const robots = opened(new RobotsClient({ agent: 'ExampleBot' }));
    const options = { pacing: { defaultDelayMs: 0 } };
    const outcome = await libraries[name]?.({ robots, options })(`${site.origin}/page`).catch(
      (error: unknown) => error,
    );
    expect(retryAtOf(outcome)).toBeGreaterThan(Date.now() + 50_000);
  },
);
