import axios from 'axios';
import got from 'got';
import { describe, expect, it } from 'vitest';
import { guardAxios } from '../../src/guards/axios/axios.ts';
import { gotHooks } from '../../src/guards/got/got.ts';
import { crawlReport, guardFetch, type RobotsClient } from '../../src/index.ts';
import { virtualClock } from '../../src/extras/testing/index.ts';
import { Moment } from '../support/moment.ts';
import { opened, openedSite, openedClient } from '../support/opened.ts';
import { answer } from '../support/site.ts';

const pacing = { defaultDelayMs: 0, maxDelayMs: 1_000_000 };

/** A site whose robots.txt and `/slow` come when the test says so, and a client in virtual time. */
async function held() {
  const [robotsAsked, robotsCome, slowAsked, slowCome] = [
    new Moment(),
    new Moment(),
    new Moment(),
    new Moment(),
  ];
  const server = await openedSite((request, response) => {
    if (request.url === '/robots.txt') {
      robotsAsked.now();
      void robotsCome.come.then(() => answer(response, { body: '' }));
    } else if (request.url === '/slow') {
      slowAsked.now();
      void slowCome.come.then(() => answer(response, { body: 'slow' }));
    } else answer(response, { body: 'a page' });
  });
  const clock = virtualClock();
  const { robots } = openedClient({ clock });
  const pages = (): string[] => server.requests.map(({ url }) => url).filter((url) => url !== '/robots.txt');
  /** `request` is sent after `ms`, and not before. */
  const isSentAfter = async (ms: number, request: () => Promise<unknown>, path: string): Promise<void> => {
    const before = pages();
    const sent = request();
    await clock.whenWaiting();
    await clock.advance(ms - 1);
    expect(pages()).toEqual(before);
    await clock.advance(1);
    await sent;
    expect(pages()).toEqual([...before, path]);
  };
  return {
    server,
    clock,
    robots,
    robotsAsked,
    robotsCome,
    slowAsked,
    slowCome,
    pages,
    isSentAfter,
  };
}

describe('the permit of a request that its library drops', () => {
  it.each([
    [
      'a stream of got destroyed while robots.txt is fetched',
      (url: string, hooks: ReturnType<typeof gotHooks>) => {
        const stream = got.extend(hooks).stream(url, { retry: { limit: 0 } });
        stream.on('error', () => undefined);
        return () => void stream.destroy();
      },
    ],
    [
      'a promise of got cancelled while robots.txt is fetched',
      (url: string, hooks: ReturnType<typeof gotHooks>) => {
        const page = got.extend(hooks)(url, { retry: { limit: 0 } });
        page.catch(() => undefined);
        return () => page.cancel();
      },
    ],
    [
      'a request of axios cancelled while robots.txt is fetched',
      (url: string, _hooks: unknown, robots: RobotsClient) => {
        const { token: cancelToken, cancel } = axios.CancelToken.source();
        guardAxios(axios.create(), robots, { pacing })
          .get(url, { cancelToken })
          .catch(() => undefined);
        return () => cancel();
      },
    ],
  ])('%s: ends at once, and nothing was sent', async (_, begin) => {
    const { server, robots, robotsAsked, robotsCome, pages } = await held();
    const report = opened(crawlReport(robots));
    const hooks = gotHooks(robots, { pacing });
    const giveUp = begin(server.url('/given-up'), hooks, robots);
    await robotsAsked.come;
    giveUp();
    robotsCome.now();
    expect(await got.extend(hooks)(server.url('/next')).text()).toBe('a page');
    expect(pages()).toEqual(['/next']);
    expect(report.totals()).toMatchObject({ sent: 1, failed: 0 });
  });

  it.each([
    [
      'got',
      (robots: RobotsClient) => {
        const guarded = got.extend(gotHooks(robots, { pacing }));
        return (url: string): Promise<unknown> => guarded(url).text();
      },
    ],
    [
      'axios',
      (robots: RobotsClient) => {
        const guarded = guardAxios(axios.create(), robots, { pacing });
        return (url: string): Promise<unknown> => guarded.get(url);
      },
    ],
  ])('a request of %s that was sent holds its permit for 10 minutes', async (_, make) => {
    const { server, robots, robotsCome, slowAsked, slowCome, isSentAfter } = await held();
    robotsCome.now();
    const get = make(robots);
    const slow = get(server.url('/slow'));
    await slowAsked.come;
    await isSentAfter(600_000, () => get(server.url('/next')), '/next');
    slowCome.now();
    await slow;
  });
});

it('a 403 pauses its origin for as long as `Retry-After` says, where the HTTP stack shows it first', async () => {
  const server = await openedSite((request, response) =>
    request.url === '/robots.txt'
      ? answer(response, { body: '' })
      : answer(response, { status: 403, headers: { 'retry-after': '2' } }),
  );
  const clock = virtualClock();
  const { robots } = openedClient({ clock });
  const guarded = guardFetch(fetch, robots, { pacing: { ...pacing, pauseOnRefusal: true } });
  await (await guarded(server.url('/page'))).text();
  expect((await robots.policy(server.url('/'))).pacing?.pause).toMatchObject({
    until: clock.now() + 2_000,
    delayFrom: 'retry-after',
  });
});
