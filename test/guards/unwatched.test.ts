import { once } from 'node:events';
import { createSecureServer, type Http2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import axios, { type AxiosAdapter, type AxiosInstance } from 'axios';
import got from 'got';
import { describe, expect, it } from 'vitest';
import { guardAxios } from '../../src/guards/axios/axios.ts';
import { virtualClock } from '../../src/extras/testing/index.ts';
import { gotHooks } from '../../src/guards/got/got.ts';
import { WireRequests } from '../../src/core/fetch/platform/wire-requests.ts';
import { selfSigned } from '../support/certificates.ts';
import { answer } from '../support/site.ts';
import { opened, openedClient, openedSite } from '../support/opened.ts';
import { eventually } from '../support/eventually.ts';
import { Moment } from './support.ts';

const pacing = { defaultDelayMs: 0, maxDelayMs: 0 };

/** A client that may fetch everything at `origin`, and the number of permits that are held there. */
function allowing(origin: string) {
  const overrides = { [origin]: { text: '' } };
  const clock = virtualClock();
  const { robots } = openedClient({ overrides, clock });
  const inFlight = async (): Promise<number> => (await robots.policy(origin)).pacing?.inFlight.length ?? 0;
  return { robots, clock, inFlight };
}

describe('got over HTTP/2', () => {
  /** A site whose `/slow` never answers, and a got for it. */
  async function site() {
    const asked = new Moment();
    const server = createSecureServer(selfSigned({ host: 'localhost' }), (request, response) => {
      if (request.url === '/slow') asked.now();
      else response.end('a page');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const sessions: Http2Session[] = [];
    server.on('session', (session) => void sessions.push(session));
    opened({
      async [Symbol.asyncDispose]() {
        for (const each of sessions) each.destroy();
        await new Promise((resolve) => void server.close(resolve));
      },
    });
    const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
    const client = allowing(origin);
    const guarded = got.extend(gotHooks(client.robots, { pacing }), {
      http2: true,
      https: { rejectUnauthorized: false },
      retry: { limit: 0 },
    });
    return { ...client, asked, origin, guarded };
  }

  it('a request under way holds its permit, and a stream that is destroyed frees it', async () => {
    const { origin, asked, clock, guarded, inFlight } = await site();
    const slow = guarded.stream(`${origin}/slow`).on('error', () => undefined);
    await asked.come;
    await clock.advance(100_000);
    expect(await inFlight()).toBe(1);
    await expect(guarded(`${origin}/page`)).rejects.toMatchObject({ code: 'ERR_ROBOTS_DEFERRED' });
    slow.destroy();
    await eventually(async () => expect(await inFlight()).toBe(0));
    expect(await guarded(`${origin}/page`).text()).toBe('a page');
  });

  it('a request that was dropped frees its permit after 30 s', async () => {
    const { origin, clock, guarded, inFlight } = await site();
    const dropped = guarded.stream(`${origin}/slow`, {
      hooks: { beforeRequest: [() => void dropped.destroy()] },
    });
    dropped.on('error', () => undefined);
    await eventually(async () => expect(await inFlight()).toBe(1));
    await clock.advance(30_000);
    expect(await inFlight()).toBe(0);
  });
});

describe('axios', () => {
  const ORIGIN = 'https://site.example';

  /** An instance whose own interceptors replace each error, as applications do. */
  function guardedAxios(config: object) {
    const client = allowing(ORIGIN);
    const instance: AxiosInstance = axios.create(config);
    instance.interceptors.response.use(undefined, () => Promise.reject(new Error('no page')));
    return { ...client, instance: guardAxios(instance, client.robots, { pacing }) };
  }

  it('with an adapter of the caller: holds its permit until the adapter has settled', async () => {
    const asked = new Moment();
    let settle: (error: Error) => void = () => undefined;
    const adapter: AxiosAdapter = () => {
      asked.now();
      return new Promise((_, reject) => void (settle = reject));
    };
    const { clock, inFlight, instance } = guardedAxios({ adapter });
    const page = instance.get(`${ORIGIN}/page`);
    await asked.come;
    await clock.advance(100_000);
    expect(await inFlight()).toBe(1);
    settle(new Error('no network'));
    await expect(page).rejects.toThrow('no page');
    expect(await inFlight()).toBe(0);
  });

  it('with an adapter of the caller that responds: frees its permit', async () => {
    const adapter: AxiosAdapter = async (config) => ({
      data: 'a page',
      status: 200,
      statusText: 'OK',
      headers: {},
      config,
    });
    const { inFlight, instance } = guardedAxios({ adapter });
    expect((await instance.get(`${ORIGIN}/page`)).data).toBe('a page');
    expect((await instance.get(`${ORIGIN}/page`)).data).toBe('a page');
    expect(await inFlight()).toBe(0);
  });

  it('with a transport of the caller: holds its permit until the request is closed', async () => {
    const asked = new Moment();
    const sent = new (class extends Writable {
      setTimeout(): void {}
    })({ write: (_chunk, _encoding, done) => done() });
    const transport = {
      request() {
        asked.now();
        return sent;
      },
    };
    const { clock, inFlight, instance } = guardedAxios({ transport });
    const page = instance.get(`${ORIGIN}/page`);
    await asked.come;
    await clock.advance(100_000);
    expect(await inFlight()).toBe(1);
    sent.destroy(new Error('no network'));
    await expect(page).rejects.toThrow('no page');
    await eventually(async () => expect(await inFlight()).toBe(0));
  });

  it.each([
    ['an adapter', { adapter: () => Promise.reject(new Error('not called')) }],
    ['a transport', { transport: { request: () => new Writable() } }],
    ['HTTP/2', { httpVersion: 2 as const }],
  ])('with %s: a request that was dropped frees its permit after 30 s', async (_, config) => {
    const { clock, inFlight, robots } = allowing(ORIGIN);
    const instance: AxiosInstance = axios.create(config);
    instance.interceptors.request.use(() => Promise.reject(new Error('no token')));
    guardAxios(instance, robots, { pacing });
    await expect(instance.get(`${ORIGIN}/page`)).rejects.toThrow('no token');
    expect(await inFlight()).toBe(1);
    await clock.advance(30_000);
    expect(await inFlight()).toBe(0);
  });

  it('over a fetch of the caller: a request that failed frees its permit', async () => {
    const fetch = (): Promise<never> => Promise.reject(new TypeError('no network'));
    const { inFlight, instance } = guardedAxios({ adapter: 'fetch', env: { fetch } });
    await expect(instance.get(`${ORIGIN}/page`)).rejects.toThrow('no page');
    expect(await inFlight()).toBe(0);
  });

  it('refuses by a header field also where an interceptor copies the config', async () => {
    const server = await openedSite((request, response) =>
      answer(response, request.url === '/robots.txt' ? {} : { headers: { 'content-usage': 'train-ai=n' } }),
    );
    const { robots } = openedClient();
    const instance: AxiosInstance = axios.create();
    instance.interceptors.request.use((config) => ({ ...config }));
    guardAxios(instance, robots, { purpose: 'train-ai' });
    await expect(instance.get(server.url('/page'))).rejects.toMatchObject({ code: 'ERR_ROBOTS_USAGE' });
  });
});

describe('requests that are never sent', () => {
  class Waiting {
    readonly url: string;
    readonly decision = undefined;
    hasExpired = false;
    isOnWire = false;

    constructor(path: string) {
      this.url = `https://site.example${path}`;
    }

    onWireStart(): void {
      this.isOnWire = true;
    }
    onWireSent(): void {}
    onWireHeaders(): void {}
    onBodyRead(): void {}
    onWireEnd(): void {}
    finish(): void {}
  }

  it.each([
    ['for one URL', () => '/page'],
    ['for many', (index: number) => `/${index}`],
  ])('%s are forgotten when their permits have ended', (_, pathOf) => {
    const requests = new WireRequests();
    for (let index = 0; index < 1_000; index++) {
      const dropped = new Waiting(pathOf(index));
      requests.expect(dropped);
      dropped.hasExpired = true;
    }
    const known = Array.from({ length: 1_000 }, (_each, index) =>
      requests.sent({ path: pathOf(index) }, 'https://site.example'),
    ).filter((each) => each !== undefined);
    expect(known.length).toBeLessThanOrEqual(100);
  });

  it('leave the request that is sent to the newer one for the URL', () => {
    const requests = new WireRequests();
    const [dropped, live] = [new Waiting('/page'), new Waiting('/page')];
    requests.expect(dropped);
    const expected = requests.expect(live);
    expect(requests.sent({ path: '/page' }, 'https://site.example')).toBe(live);
    expect(live.isOnWire).toBe(true);
    requests.forget(expected);
    expect(requests.sent({ path: '/page' }, 'https://site.example')).toBe(dropped);
    expect(requests.sent({ path: '/page' }, 'https://site.example')).toBeUndefined();
  });
});
