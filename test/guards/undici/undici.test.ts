import { EventEmitter } from 'node:events';
import {
  Agent,
  Client,
  type Dispatcher,
  interceptors,
  MockAgent,
  Pool,
  ProxyAgent,
  request,
  RetryAgent,
} from 'undici';
import { describe, expect, it, vi } from 'vitest';
import { robotsInterceptor } from '../../../src/guards/undici/undici.ts';
import type { RobotsClient, RobotsClientOptions } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { otherMajor } from '../../support/other-major.ts';
import { opened, openedClient, openedSite } from '../../support/opened.ts';
import { answer, type Handler, type Site } from '../../support/site.ts';
import { decidedBy, sentUnchecked } from '../support.ts';

const site = (pages: Handler): Promise<Site> =>
  openedSite((incoming, response) =>
    incoming.url === '/robots.txt'
      ? answer(response, { body: 'User-agent: *\nDisallow: /private\n' })
      : pages(incoming, response),
  );
const client = (options: RobotsClientOptions = {}): RobotsClient => openedClient(options).robots;
/** Ends a dispatcher after the test. */
function ending<Made extends object>(made: Made, end: (made: Made) => Promise<unknown>): Made {
  opened({ [Symbol.asyncDispose]: async () => void (await end(made)) });
  return made;
}
const agent = (): Agent => ending(new Agent(), (made) => made.destroy());

const page: Handler = (_, response) => answer(response, { body: 'a page' });
const intoPrivate: Handler = (incoming, response) =>
  incoming.url === '/go'
    ? answer(response, { status: 302, headers: { location: '/private' } })
    : page(incoming, response);
const pagesOf = (each: Site): string[] =>
  each.requests.filter(({ url }) => url !== '/robots.txt').map(({ url }) => url);

describe('robotsInterceptor', () => {
  it.each(['', '/policy.txt'])(
    'does not ask itself about the robots.txt of a client that goes through it (redirect: "%s")',
    async (location) => {
      const server = await openedSite((incoming, response) => {
        if (incoming.url === '/robots.txt' && location !== '')
          answer(response, { status: 301, headers: { location } });
        else if (incoming.url?.endsWith('.txt') === true)
          answer(response, { body: 'User-agent: *\nDisallow: /private' });
        else page(incoming, response);
      });
      const robots = client({ dispatcher: () => dispatcher });
      const dispatcher = agent().compose(robotsInterceptor(robots));
      const { body } = await request(server.url('/page'), { dispatcher });
      expect(await body.text()).toBe('a page');
      await expect(request(server.url('/private'), { dispatcher })).rejects.toMatchObject({
        code: 'ERR_ROBOTS_DISALLOWED',
      });
      const files = location === '' ? ['/robots.txt'] : ['/robots.txt', location];
      expect(server.requests.map(({ url }) => url)).toEqual([...files, '/page']);
      if (location === '') expect(server.connections()).toBe(1);
    },
  );

  it('lets all requests for /robots.txt pass', async () => {
    const server = await site(page);
    const robots = client();
    const dispatcher = agent().compose(robotsInterceptor(robots));
    const { body } = await request(server.url('/robots.txt'), { dispatcher });
    await body.text();
    expect(robots.stats().attempts).toBe(0);
  });

  it('asks about the query, which undici keeps apart from the path', async () => {
    const server = await openedSite({
      '/robots.txt': { body: 'User-agent: *\nDisallow: /*?session=\n' },
      '/page?a=b+c': { body: '' },
    });
    const dispatcher = agent().compose(robotsInterceptor(client()));
    const ask = (query: Record<string, string>): Promise<unknown> =>
      request(server.url('/page'), { dispatcher, query });
    await expect(ask({ session: '1' })).rejects.toMatchObject({
      decision: { url: server.url('/page?session=1') },
    });
    await ask({ a: 'b c' });
  });

  it('a path that looks like another host is no other host', async () => {
    const server = await site(page);
    const shared = agent();
    const dispatcher = shared.compose(robotsInterceptor(client()));
    await dispatcher.request({ origin: server.origin, path: '//other.example/private', method: 'GET' });
    expect(pagesOf(server)).toEqual(['//other.example/private']);
  });

  it('refuses what does not say which origin it is for', async () => {
    const dispatcher = agent().compose(robotsInterceptor(client()));
    const nameless = { path: '/', method: 'GET' } as unknown as Dispatcher.RequestOptions;
    await expect(dispatcher.request(nameless)).rejects.toMatchObject({ code: 'ERR_ROBOTS_INVALID_OPTIONS' });
  });

  it('ends a request aborted by an emitter while deciding', async () => {
    const server = await openedSite(() => undefined);
    const robots = client();
    const dispatcher = agent().compose(robotsInterceptor(robots));
    const signal = new EventEmitter();
    const pending = request(server.url('/'), { dispatcher, signal });
    await eventually(() => expect(server.requests).toHaveLength(1));
    signal.emit('abort');
    await expect(pending).rejects.toMatchObject({ name: 'AbortError' });
    await eventually(() => expect(robots.stats().inFlight).toBe(0));
    expect(signal.listenerCount('abort')).toBe(0);
  });

  it('a request may say why it ignores robots.txt; a dry run refuses nothing', async () => {
    const server = await site(page);
    const ignored = sentUnchecked();
    const onRefusal = vi.fn();
    const robots = client();
    const dispatcher = agent().compose(robotsInterceptor(robots));
    const robotsOption = { robots: { ignore: true, because: 'link check' } };
    await request(server.url('/private'), { dispatcher, ...robotsOption });
    expect(ignored).toEqual([{ url: server.url('/private'), because: 'link check' }]);
    const dry = agent().compose(robotsInterceptor(robots, { mode: 'report', onRefusal }));
    expect((await request(server.url('/private'), { dispatcher: dry })).statusCode).toBe(200);
    expect(onRefusal).toHaveBeenCalledOnce();
    const wrong = { robots: { ignore: true } };
    await expect(request(server.url('/'), { dispatcher, ...wrong })).rejects.toThrow(/`robots\.because`/);
  });

  it('is not retried: a refusal is no trouble on the network', async () => {
    const server = await site(page);
    const dispatcher = new RetryAgent(agent().compose(robotsInterceptor(client())));
    await expect(request(server.url('/private'), { dispatcher })).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
    });
  });
});

describe('the order of interceptors', () => {
  const redirect = interceptors.redirect({ maxRedirections: 5 });
  const retry = interceptors.retry({ maxRetries: 1 });

  it('compose(dns, guard, retry, redirect) sees names, and every hop', async () => {
    const server = await site(intoPrivate);
    const { port } = new URL(server.origin);
    const dispatcher = agent().compose(
      interceptors.dns({ affinity: 4, dualStack: false }),
      robotsInterceptor(client()),
      retry,
      redirect,
    );
    await expect(request(`http://localhost:${port}/go`, { dispatcher })).rejects.toMatchObject({
      decision: { url: `http://localhost:${port}/private` },
    });
    expect(pagesOf(server)).toEqual(['/go']);
  });

  it('compose(guard, cache): what the cache has needs no decision', async () => {
    const server = await site((_, response) =>
      answer(response, { headers: { 'cache-control': 'max-age=600' }, body: 'a page' }),
    );
    const robots = client();
    const decided = decidedBy(robots);
    const dispatcher = agent().compose(robotsInterceptor(robots), interceptors.cache());
    for (const _ of ['from the site', 'from the cache']) {
      expect(await (await request(server.url('/page'), { dispatcher })).body.text()).toBe('a page');
    }
    expect(decided).toEqual([server.url('/page')]);
    expect(pagesOf(server)).toEqual(['/page']);
  });

  it('compose(redirect, guard) is unsafe: the redirect is followed below the guard', async () => {
    const server = await site(intoPrivate);
    const dispatcher = agent().compose(redirect, robotsInterceptor(client()));
    await request(server.url('/go'), { dispatcher });
    expect(pagesOf(server)).toEqual(['/go', '/private']);
  });

  it('compose(guard, dns) is refused: the guard would see an address instead of the site', async () => {
    const server = await site(page);
    const { port } = new URL(server.origin);
    const dispatcher = agent().compose(
      robotsInterceptor(client()),
      interceptors.dns({ affinity: 4, dualStack: false }),
    );
    await expect(request(`http://localhost:${port}/`, { dispatcher })).rejects.toThrow(
      /compose\(dns, guard, …\)/,
    );
    expect(server.requests).toEqual([]);
  });
});

describe('a dispatcher that answers at once', () => {
  /** `/from` of a.test redirects to `location`, and everything else is a page. */
  function answering(location: string) {
    const sent: string[] = [];
    const mock = ending(new MockAgent(), (made) => made.close());
    mock.disableNetConnect();
    const from = mock.get('http://a.test');
    from.intercept({ path: '/from' }).reply(() => {
      sent.push('http://a.test/from');
      return { statusCode: 302, responseOptions: { headers: { location } } };
    });
    const { origin, pathname } = new URL(location, 'http://a.test');
    mock
      .get(origin)
      .intercept({ path: pathname })
      .reply(() => {
        sent.push(origin + pathname);
        return { statusCode: 200, data: 'a page' };
      });
    return { mock, sent };
  }

  const overrides = {
    'http://a.test': { text: '' },
    'http://b.test': { text: 'User-agent: *\nDisallow: /\n' },
  };

  it.each(['guard, redirect', 'guard, redirect, guard'])(
    'compose(%s): a redirect to the same path of another site is checked',
    async (order) => {
      const { mock, sent } = answering('http://b.test/from');
      const guard = robotsInterceptor(client({ overrides }));
      const redirect = interceptors.redirect({ maxRedirections: 3 });
      const composed = order.split(', ').map((name) => (name === 'guard' ? guard : redirect));
      const asked = request('http://a.test/from', { dispatcher: mock.compose(composed) });
      await expect(asked).rejects.toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
      expect(sent).toEqual(['http://a.test/from']);
    },
  );
});

const undiciSix = await otherMajor<typeof import('undici')>('undici-6');
const undiciEight = await otherMajor<typeof import('undici')>('undici-8');

it.each([undiciSix, undiciEight].filter((library) => library !== undefined))(
  'a client sends robots.txt over a dispatcher of undici 6 and 8',
  async ({ Agent: Other }) => {
    const server = await site(page);
    const dispatcher = ending(new Other(), (made) => made.close());
    const dispatch = vi.spyOn(dispatcher, 'dispatch');
    expect(await client({ dispatcher }).canFetch(server.url('/private'))).toBe(false);
    expect([dispatch.mock.calls.length, server.requests.length]).toEqual([1, 1]);
  },
);

(undiciSix === undefined ? describe.skip : describe)('a dispatcher of undici 6', () => {
  const message =
    /^Expected robotsInterceptor to be composed with a dispatcher of undici 7 or 8, got one of undici 6/;

  it('is refused when it is composed', async () => {
    const six = ending(new undiciSix!.Agent(), (made) => made.close());
    expect(() => six.compose(robotsInterceptor(client()))).toThrow(message);
  });

  it('fails each request when that cannot be known before', async () => {
    const server = await site(page);
    const mock = ending(new undiciSix!.MockAgent(), (made) => made.close());
    const dispatcher = mock.compose(robotsInterceptor(client()));
    await expect(undiciSix!.request(server.url('/page'), { dispatcher })).rejects.toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
      message: expect.stringMatching(message),
    });
    expect(server.requests).toEqual([]);
  });
});

it.each([
  ['Pool', () => new Pool('http://127.0.0.1:1')],
  ['Client', () => new Client('http://127.0.0.1:1')],
  ['ProxyAgent', () => new ProxyAgent('http://127.0.0.1:1')],
])('a dispatcher of undici 7 is served: %s', async (_, make) => {
  const made = ending<Dispatcher>(make(), (made) => made.close());
  expect(() => made.compose(robotsInterceptor(client()))).not.toThrow();
});
