import axios from 'axios';
import got from 'got';
import { Agent, fetch as undiciFetch, getGlobalDispatcher, request, setGlobalDispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import { guardAxios } from '../../src/guards/axios/axios.ts';
import { gotHooks } from '../../src/guards/got/got.ts';
import { robotsInterceptor } from '../../src/guards/undici/undici.ts';
import { crawlReport, guardFetch, refusalIn } from '../../src/index.ts';
import { opened, openedClient, openedSite } from '../support/opened.ts';
import { answer } from '../support/site.ts';

const pacing = { defaultDelayMs: 0, maxDelayMs: 0 };
const INVALID = { code: 'ERR_ROBOTS_INVALID_OPTIONS' };

async function site() {
  const server = await openedSite((incoming, response) =>
    incoming.url === '/from'
      ? answer(response, { status: 302, headers: { location: '/page' } })
      : answer(response, { body: incoming.url === '/robots.txt' ? '' : 'a page' }),
  );
  const { robots } = openedClient();
  const report = crawlReport(robots);
  opened({ [Symbol.asyncDispose]: async () => report[Symbol.dispose]() });
  return { server, robots, report };
}

function openedAgent(): Agent {
  const agent = new Agent();
  opened({ [Symbol.asyncDispose]: () => agent.close() });
  return agent;
}

describe('guarded twice', () => {
  it('an instance of axios is refused', async () => {
    const { robots } = await site();
    const instance = guardAxios(axios.create(), robots, { pacing });
    expect(() => guardAxios(instance, robots, { pacing })).toThrow(expect.objectContaining(INVALID));
    guardAxios(axios.create(), robots);
  });

  it('by one client, a fetch is refused', async () => {
    const { robots } = await site();
    const guarded = guardFetch(fetch, robots, { pacing });
    expect(() => guardFetch(guarded, robots, { pacing })).toThrow(expect.objectContaining(INVALID));
  });

  it('by two clients, a fetch has a permit of each', async () => {
    const { server, robots } = await site();
    const guarded = guardFetch(guardFetch(fetch, robots, { pacing }), openedClient().robots, { pacing });
    expect(await (await guarded(server.url('/page'))).text()).toBe('a page');
    expect(await (await guarded(server.url('/page'))).text()).toBe('a page');
  });

  it.each<[string, (send: typeof fetch) => typeof fetch]>([
    ['is wrapped', (send) => (input, init) => send(input, init)],
    [
      'is wrapped by what waits before it',
      (send) => async (input, init) => {
        await Promise.resolve();
        return send(input, { ...init });
      },
    ],
  ])('by one client, a fetch that %s has one permit, and is one request', async (_, wrap) => {
    const { server, robots, report } = await site();
    const guarded = guardFetch(wrap(guardFetch(fetch, robots, { pacing })), robots, { pacing });
    expect(await (await guarded(server.url('/page'))).text()).toBe('a page');
    expect(await (await guarded(server.url('/from'))).text()).toBe('a page');
    expect(report.totals()).toMatchObject({ sent: 3, allowed: 3 });
  });

  it.each(['of the call', 'global'])(
    'by one client, a fetch over a dispatcher %s has one permit',
    async (which) => {
      const { server, robots, report } = await site();
      const dispatcher = openedAgent().compose(robotsInterceptor(robots, { pacing }));
      const guarded = guardFetch(undiciFetch, robots, { pacing });
      const given = getGlobalDispatcher();
      if (which === 'global') setGlobalDispatcher(dispatcher);
      const get = async (path: string): Promise<string> =>
        (await guarded(server.url(path), which === 'global' ? {} : { dispatcher })).text();
      try {
        expect(await get('/page')).toBe('a page');
        expect(await get('/from')).toBe('a page');
      } finally {
        setGlobalDispatcher(given);
      }
      expect(report.totals()).toMatchObject({ sent: 3, allowed: 3 });
    },
  );

  it('by one client, of which one guard does not pace, a fetch waits for the permit', async () => {
    const { server, robots } = await site();
    const inner = guardFetch(fetch, robots, { pacing: { ...pacing, maxDelayMs: 0 } });
    const guarded = guardFetch((url: string) => inner(url), robots, { timeoutMs: 5_000 });
    const outcomes = await Promise.allSettled([guarded(server.url('/page')), guarded(server.url('/page'))]);
    expect(outcomes).toMatchObject([{ status: 'fulfilled' }, { reason: { code: 'ERR_ROBOTS_DEFERRED' } }]);
  });

  it('by the same hooks, a request of got is one request', async () => {
    const { server, robots, report } = await site();
    const hooks = gotHooks(robots, { pacing });
    const guarded = got.extend(hooks).extend(hooks);
    expect(await guarded(server.url('/page')).text()).toBe('a page');
    expect(await guarded(server.url('/from')).text()).toBe('a page');
    expect(report.totals()).toMatchObject({ sent: 3, allowed: 3 });
  });

  it('by two guards, a request of got is refused', async () => {
    const { server, robots } = await site();
    const once = got.extend(gotHooks(robots, { pacing }));
    const twice = once.extend(gotHooks(robots, { pacing }));
    await expect(twice(server.url('/page'))).rejects.toMatchObject({ ...INVALID, cause: INVALID });
    expect(await once(server.url('/page')).text()).toBe('a page');
  });

  it('by the same interceptor, a request of undici is one request', async () => {
    const { server, robots, report } = await site();
    const agent = openedAgent();
    const guard = robotsInterceptor(robots, { pacing });
    for (const dispatcher of [agent.compose(guard).compose(guard), agent.compose(guard, guard)]) {
      const { body } = await request(server.url('/page'), { dispatcher });
      expect(await body.text()).toBe('a page');
    }
    expect(report.totals()).toMatchObject({ sent: 2, allowed: 2 });
  });

  it('by two interceptors, a request of undici is refused', async () => {
    const { server, robots } = await site();
    const agent = openedAgent();
    const once = agent.compose(robotsInterceptor(robots, { pacing }));
    const dispatcher = once.compose(robotsInterceptor(robots, { pacing }));
    const error: unknown = await request(server.url('/page'), { dispatcher }).catch((reason) => reason);
    expect(error).toMatchObject(INVALID);
    expect(refusalIn(error)).toBeUndefined();
    expect(await (await request(server.url('/page'), { dispatcher: once })).body.text()).toBe('a page');
  });
});
