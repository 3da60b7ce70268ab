import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import axios from 'axios';
import got from 'got';
import { describe, expect, it, vi } from 'vitest';
import { guardAxios } from '../../src/guards/axios/axios.ts';
import { gotHooks } from '../../src/guards/got/got.ts';
import { crawlReport, type Decision, type RobotsClient } from '../../src/index.ts';
import { answer, type Site, startSite } from '../support/site.ts';
import { Moment } from '../support/moment.ts';
import { opened, openedClient, openedSite } from '../support/opened.ts';
import { sentUnchecked } from './support.ts';

/** Answers `/to?<location>` with that redirect, the rest with a page. */
async function site(): Promise<Site> {
  return openedSite((request, response) => {
    const url = request.url ?? '';
    if (url === '/robots.txt')
      answer(response, { body: 'User-agent: *\nDisallow: /private\nDisallow: /*?no' });
    else if (url.startsWith('/to?'))
      answer(response, { status: 302, headers: { location: url.slice('/to?'.length) } });
    else answer(response, { body: 'a page' });
  });
}

const client = (): RobotsClient => openedClient().robots;

const pagesOf = (each: Site): string[] =>
  each.requests.filter(({ url }) => url !== '/robots.txt').map(({ url }) => url);
const because = 'link check';
const robots = { ignore: true, because } as const;
const BAD_FIELD = { headers: { 'x-own': '\u4e2d' }, retry: { limit: 0 } };
const BAD_METHOD = { method: 'B AD' };
const LONG_BODY = { method: 'POST', data: 'long', maxBodyLength: 3 };

it.each([
  ['got', (url: string, each: RobotsClient) => got.extend(gotHooks(each))(url, BAD_FIELD)],
  ['axios', (url: string, each: RobotsClient) => guardAxios(axios.create(), each)(url, BAD_METHOD)],
  ['axios', (url: string, each: RobotsClient) => guardAxios(axios.create(), each)(url, LONG_BODY)],
])('what Node, or %s, refuses to send was not sent', async (_, ask) => {
  const server = await site();
  const each = client();
  const report = opened(crawlReport(each));
  await expect(ask(server.url('/page'), each)).rejects.toThrow();
  expect(pagesOf(server)).toEqual([]);
  expect(report.totals()).toMatchObject({ allowed: 1, sent: 0, failed: 0 });
});

describe('gotHooks', () => {
  it('reject with an error of got, not retried, whose cause is the refusal', async () => {
    const server = await site();
    const guarded = got.extend(gotHooks(client()), { retry: { limit: 3 } });
    await expect(guarded(server.url('/private'))).rejects.toMatchObject({
      name: 'RequestError',
      code: 'ERR_ROBOTS_DISALLOWED',
      cause: { decision: { url: server.url('/private') } },
    });
    expect(pagesOf(server)).toEqual([]);
  });

  it('refuse requests of got 9 and earlier, which have no `url`, and name the versions served', () => {
    const [beforeRequest] = gotHooks(client()).hooks.beforeRequest;
    expect(() => beforeRequest?.({ headers: {} })).toThrow(/got 14 or later/);
  });

  it.each(['/to?/private', '/private'])('see the URL that a hook of the request sets to %s', async (url) => {
    const server = await site();
    const guarded = got.extend(gotHooks(client()));
    const beforeRequest = [
      (options: { url?: unknown }) => {
        if (String(options.url) === server.url('/page')) options.url = server.url(url);
      },
    ];
    await expect(guarded(server.url('/page'), { hooks: { beforeRequest } })).rejects.toMatchObject({
      cause: { decision: { url: server.url('/private') } },
    });
    expect(pagesOf(server)).toEqual(url === '/private' ? [] : [url]);
  });

  it('see the URL that searchParams and prefixUrl make', async () => {
    const server = await site();
    const guarded = got.extend(gotHooks(client()), { prefixUrl: server.origin });
    await expect(guarded('page', { searchParams: { no: '1' } })).rejects.toMatchObject({
      cause: { decision: { url: server.url('/page?no=1') } },
    });
  });

  it('in a dry run tell of each hop once', async () => {
    const server = await site();
    const received: Decision[] = [];
    const guarded = got.extend(
      gotHooks(client(), { mode: 'report', onRefusal: (decision) => void received.push(decision) }),
    );
    expect(await guarded(server.url('/to?/private')).text()).toBe('a page');
    expect(received.map(({ url }) => url)).toEqual([server.url('/private')]);
  });

  it('take the reason to ignore robots.txt from the context of the request', async () => {
    const server = await site();
    const ignored = sentUnchecked();
    const guarded = got.extend(gotHooks(client()));
    expect(await guarded(server.url('/private'), { context: { robots } }).text()).toBe('a page');
    expect(ignored).toEqual([{ url: server.url('/private'), because }]);
    await expect(guarded(server.url('/private'), { context: { robots: { ignore: true } } })).rejects.toThrow(
      /`robots\.because`/,
    );
  });

  it('give the place of a request back that is aborted in the moment it may leave', async () => {
    const server = await site();
    const guarded = got.extend(gotHooks(client(), { pacing: { defaultDelayMs: 0, maxDelayMs: 0 } }));
    const leaving = new AbortController();
    const abort = (): void => leaving.abort();
    subscribe('canfetch:decision', abort);
    await expect(guarded(server.url('/page'), { signal: leaving.signal })).rejects.toThrow();
    unsubscribe('canfetch:decision', abort);
    expect(leaving.signal.aborted).toBe(true);
    expect(await guarded(server.url('/page')).text()).toBe('a page');
  });
});

describe('guardAxios', () => {
  it('refuses an instance of axios 0, and names the version served', () => {
    const instance = axios.create({ adapter: () => Promise.reject(new Error('never called')) });
    Reflect.deleteProperty(instance, 'constructor');
    expect(() => guardAxios(instance, client())).toThrow(
      expect.objectContaining({
        code: 'ERR_ROBOTS_INVALID_OPTIONS',
        message: expect.stringContaining('axios 1'),
      }),
    );
  });

  it('refuses requests over the fetch adapter of axios 1.11 and earlier, which has a fetch of its own', async () => {
    const server = await site();
    const instance = axios.create({ adapter: 'fetch' });
    // Other instances that it makes pay no attention to the `fetch` in their config.
    Object.assign(instance, { create: () => axios.create({ adapter: async () => ({ data: '' }) as never }) });
    const guarded = guardAxios(instance, client());
    for (const path of ['/private', '/page'])
      await expect(guarded.get(server.url(path))).rejects.toMatchObject({
        code: 'ERR_ROBOTS_INVALID_OPTIONS',
        message: expect.stringContaining('axios 1.12 or later'),
      });
    expect(server.requests).toEqual([]);
    expect((await guarded.get(server.url('/page'), { adapter: 'http' })).status).toBe(200);
  });

  it('rejects with the refusal itself, of the URL that baseURL and params make', async () => {
    const server = await site();
    const guarded = guardAxios(axios.create({ baseURL: server.origin }), client());
    await expect(guarded.get('/page', { params: { no: 1 } })).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
      decision: { url: server.url('/page?no=1') },
    });
    expect(pagesOf(server)).toEqual([]);
  });

  it('takes the signals of packages for old platforms, which have fewer methods', async () => {
    const server = await site();
    const aborting = new AbortController();
    /** What axios asks of a signal. */
    class OldSignal {
      removeEventListener = (): void => undefined;
      addEventListener = (type: string, listener: () => void): void =>
        aborting.signal.addEventListener(type, listener);
      get aborted(): boolean {
        return aborting.signal.aborted;
      }
    }
    const signal = new OldSignal();
    const robots = client();
    expect((await guardAxios(axios.create(), robots).get(server.url('/page'), { signal })).status).toBe(200);
    const paced = guardAxios(axios.create(), robots, { pacing: { defaultDelayMs: 60_000 } });
    const waiting = paced.get(server.url('/page'), { signal }).catch((error: unknown) => error);
    aborting.abort();
    expect(axios.isCancel(await waiting)).toBe(true);
    expect(pagesOf(server)).toEqual(['/page']);
  });

  it('an abort while deciding is one of axios', async () => {
    const asked = new Moment();
    const server = opened(await startSite(() => asked.now()));
    const guarded = guardAxios(axios.create(), client());
    const leaving = new AbortController();
    const pending = guarded
      .get(server.url('/'), { signal: leaving.signal })
      .catch((reason: unknown) => reason);
    await asked.come;
    leaving.abort();
    expect(axios.isCancel(await pending)).toBe(true);
    expect(pagesOf(server)).toEqual([]);
  });

  it('calls the beforeRedirect of the request first, and keeps none for the next', async () => {
    const server = await site();
    const guarded = guardAxios(axios.create(), client());
    const beforeRedirect = vi.fn();
    await guarded.get(server.url('/to?/page'), { beforeRedirect });
    expect(beforeRedirect).toHaveBeenCalledOnce();
    await guarded.get(server.url('/to?/page'));
    expect(beforeRedirect).toHaveBeenCalledOnce();
  });

  it('decides about a redirect once, when the same config is sent again', async () => {
    const server = await site();
    const guarded = guardAxios(axios.create(), client());
    const beforeRedirect = vi.fn();
    const { config } = await guarded.get(server.url('/to?/page'), { beforeRedirect });
    const decided: string[] = [];
    const note = (message: unknown): void =>
      void decided.push((message as { readonly decision: Decision }).decision.url);
    subscribe('canfetch:decision', note);
    await guarded.request(config);
    unsubscribe('canfetch:decision', note);
    expect(decided).toEqual([server.url('/to?/page'), server.url('/page')]);
    expect(beforeRedirect).toHaveBeenCalledTimes(2);
  });

  it('a dry run waits at a redirect to an unknown origin, and tells of it', async () => {
    const [first, second] = [await site(), await site()];
    const onRefusal = vi.fn();
    const guarded = guardAxios(axios.create(), client(), { mode: 'report', onRefusal });
    const { data } = await guarded.get<unknown>(first.url(`/to?${second.url('/private')}`));
    expect(data).toBe('a page');
    expect(onRefusal).toHaveBeenCalledOnce();
    expect(onRefusal).toHaveBeenCalledWith(expect.objectContaining({ origin: second.origin }), {
      requested: first.url(`/to?${second.url('/private')}`),
      redirects: [],
    });
  });

  it.each(['http', 'fetch'] as const)('takes the reason to ignore robots.txt (%s)', async (adapter) => {
    const server = await site();
    const ignored = sentUnchecked();
    const guarded = guardAxios(axios.create({ adapter }), client());
    const config: object = { robots };
    expect((await guarded.get<unknown>(server.url('/to?/private'), config)).data).toBe('a page');
    expect(ignored).toEqual(['/to?/private', '/private'].map((path) => ({ url: server.url(path), because })));
  });

  it.each([[['xhr', 'fetch']], ['fetch']])(
    'guards the fetch of axios, whatever it is, by one and the same function (%o)',
    async (adapter) => {
      const server = await site();
      const inner = vi.fn(fetch);
      const env = { fetch: inner };
      const instance = guardAxios(axios.create({ adapter, env }), client());
      const seen = new Set<unknown>();
      instance.interceptors.response.use((response) => {
        seen.add(response.config.env?.fetch);
        return response;
      });
      await instance.get(server.url('/1'));
      await instance.get(server.url('/2'));
      expect(inner).toHaveBeenCalledTimes(2);
      expect(seen.size).toBe(1);
      expect(seen.has(inner)).toBe(false);
    },
  );
});

describe('a body that ends early', () => {
  const unfinished = () =>
    openedSite((request, response) => {
      if (request.url === '/robots.txt') answer(response, { status: 404 });
      else response.writeHead(200).write('a');
    });

  it.each([
    [
      'its caller, in got',
      (url: string, each: RobotsClient, signal: AbortSignal) => got.extend(gotHooks(each))(url, { signal }),
      0,
    ],
    [
      'the time limit of got',
      (url: string, each: RobotsClient) =>
        got.extend(gotHooks(each))(url, { timeout: { request: 500 }, retry: { limit: 0 } }),
      1,
    ],
  ])('by %s has the status that came', async (_, ask, cut) => {
    const server = await unfinished();
    const each = client();
    const report = opened(crawlReport(each));
    const aborting = new AbortController();
    const asked = ask(server.url('/page'), each, aborting.signal);
    void asked.on('downloadProgress', () => aborting.abort());
    await expect(asked).rejects.toMatchObject({ response: { statusCode: 200 } });
    expect(report.totals()).toMatchObject({ sent: 1, failed: 0, cut, statuses: { 200: 1 } });
  });
});
