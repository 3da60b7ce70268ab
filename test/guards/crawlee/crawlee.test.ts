import { CheerioCrawler } from '@crawlee/cheerio';
import { BasicCrawler, type EnqueueLinksOptions, HttpCrawler, RequestList } from '@crawlee/http';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type SkippedRequest, withRobots } from '../../../src/guards/crawlee/crawlee.ts';
import { type Decision, refusalIn } from '../../../src/index.ts';
import { testClient } from '../../support/client.ts';
import { inMemory } from '../../support/crawlee.ts';
import { answer } from '../../support/site.ts';
import { because, client, closing, pagesOf, record, robots, RULES, site, permitsOf } from './support.ts';
import { sentUnchecked } from '../support.ts';

describe('withRobots', () => {
  it('skips what is disallowed, says why, and neither fails nor retries it', async () => {
    const server = await site();
    const { options, handled, skipped, failed } = record();
    const crawler = new (withRobots(HttpCrawler, client()))(options, inMemory());
    await crawler.run([server.url('/page'), server.url('/private')]);
    expect(handled).toEqual([server.url('/page')]);
    expect(skipped).toEqual([
      {
        url: server.url('/private'),
        reason: 'robotsTxt',
        decision: expect.objectContaining({ url: server.url('/private'), reason: 'rule' }),
        refusal: expect.objectContaining({
          code: 'ERR_ROBOTS_DISALLOWED',
          requested: server.url('/private'),
        }),
      },
    ]);
    expect(failed).toEqual([]);
    expect(pagesOf(server)).toEqual(['/page']);
    expect(crawler.stats.state.requestsFailed).toBe(0);
  });

  it('adds without waiting for robots.txt, but not what it knows to be disallowed', async () => {
    const server = await site();
    const robotsClient = client();
    const { options, skipped } = record();
    const crawler = new (withRobots(HttpCrawler, robotsClient))(options, inMemory());
    const added = (): Promise<number> => crawler.getRequestQueue().then((queue) => queue.getTotalCount());
    await crawler.addRequests([server.url('/private/unknown-yet'), server.url('/page')]);
    expect(server.requests).toEqual([]);
    expect(await added()).toBe(2);
    await robotsClient.check(server.origin);
    await crawler.addRequests([server.url('/private/a'), { url: server.url('/private/b') }]);
    expect(await added()).toBe(2);
    expect(skipped.map(({ url, decision }) => [url, decision?.reason])).toEqual([
      [server.url('/private/a'), 'rule'],
      [server.url('/private/b'), 'rule'],
    ]);
    await crawler.run();
    expect(skipped.map(({ url }) => url)).toContain(server.url('/private/unknown-yet'));
    expect(pagesOf(server)).toEqual(['/page']);
  });

  it('keeps disallowed links out of the queue, and decides those to unknown origins when their turn comes', async () => {
    const other = await site();
    const server = await site(['/ok', '/private/x', `${other.origin}/private/y`, `${other.origin}/fine`]);
    const { options, handled, skipped } = record();
    const ofLinks: SkippedRequest[] = [];
    const crawler = new (withRobots(CheerioCrawler, client()))(
      {
        ...options,
        requestHandler: async ({ request, enqueueLinks }) => {
          handled.push(request.url);
          if (request.url !== server.url('/page')) return;
          const links: EnqueueLinksOptions = {
            strategy: 'all',
            onSkippedRequest: (each) => void ofLinks.push(each),
          };
          const { processedRequests } = await enqueueLinks(links);
          expect(processedRequests).toHaveLength(3);
        },
      },
      inMemory(),
    );
    await crawler.run([server.url('/page')]);
    expect(new Set(handled)).toEqual(new Set([server.url('/page'), server.url('/ok'), other.url('/fine')]));
    expect(new Set(skipped.map(({ url }) => url))).toEqual(
      new Set([server.url('/private/x'), other.url('/private/y')]),
    );
    expect(ofLinks).toEqual([
      {
        url: server.url('/private/x'),
        reason: 'robotsTxt',
        decision: expect.objectContaining({ reason: 'rule' }),
        refusal: expect.objectContaining({ code: 'ERR_ROBOTS_DISALLOWED' }),
      },
    ]);
    expect(pagesOf(other)).toEqual(['/fine']);
  });

  it('skips a link that is too long, and queues the others of its page', async () => {
    const long = `/${'a'.repeat(65_536)}`;
    const server = await site(['/ok', long, '/fine']);
    const { options, handled, skipped, failed } = record();
    const crawler = new (withRobots(CheerioCrawler, client()))(
      {
        ...options,
        requestHandler: async ({ request, enqueueLinks }) => {
          handled.push(request.url);
          await enqueueLinks();
        },
      },
      inMemory(),
    );
    await crawler.run([server.url('/page')]);
    expect({ handled, failed }).toEqual({
      handled: ['/page', '/ok', '/fine'].map((path) => server.url(path)),
      failed: [],
    });
    expect(skipped).toEqual([{ url: server.url(long), reason: 'robotsTxt' }]);
  });

  it('guards the requests of a BasicCrawler', async () => {
    const server = await site();
    const { options, handled, skipped } = record();
    const crawler = new (withRobots(BasicCrawler, client()))(options, inMemory());
    await crawler.run([server.url('/page'), server.url('/private')]);
    expect(handled).toEqual([server.url('/page')]);
    expect(skipped.map(({ url }) => url)).toEqual([server.url('/private')]);
    expect(pagesOf(server)).toEqual([]);
  });

  it('skips a request whose redirect is disallowed: the hop is not requested, the request is made once', async () => {
    const server = await site();
    const { options, handled, skipped, failed } = record();
    const crawler = new (withRobots(HttpCrawler, client()))(options, inMemory());
    await crawler.run([server.url('/to?/to?/private')]);
    expect([handled, failed]).toEqual([[], []]);
    expect(skipped).toEqual([
      {
        url: server.url('/to?/to?/private'),
        reason: 'robotsTxt',
        decision: expect.objectContaining({ url: server.url('/private') }),
        refusal: expect.objectContaining({
          requested: server.url('/to?/to?/private'),
          redirects: [server.url('/to?/private')],
        }),
      },
    ]);
    expect(pagesOf(server)).toEqual(['/to?/to?/private', '/to?/private']);
  });

  it('says when to come back where robots.txt is unreachable, also after a redirect', async () => {
    const dead = await site([], (_, response) => void response.socket?.destroy());
    const server = await site();
    const { options, skipped, failed } = record();
    const crawler = new (withRobots(HttpCrawler, client()))(options, inMemory());
    await crawler.run([dead.url('/page'), server.url(`/to?${dead.url('/page')}`)]);
    expect(failed).toEqual([]);
    expect(skipped).toHaveLength(2);
    for (const { decision } of skipped) {
      expect(decision).toMatchObject({
        origin: dead.origin,
        reason: 'unreachable',
        retryAt: expect.any(Number),
      });
    }
    expect(dead.requests.map(({ url }) => url)).toEqual(['/robots.txt']);
  });

  it('does not give up a link because robots.txt is unreachable at the moment', async () => {
    let reachable = false;
    const server = await site([], (_, response) =>
      answer(response, reachable ? { body: RULES } : { status: 503 }),
    );
    const { client: robotsClient, clock } = testClient();
    closing(robotsClient);
    const { options, handled } = record();
    const crawler = new (withRobots(HttpCrawler, robotsClient))(options, inMemory());
    await robotsClient.check(server.origin);
    await crawler.addRequests([server.url('/page')]);
    reachable = true;
    clock.advance(60_000);
    await crawler.run();
    expect(handled).toEqual([server.url('/page')]);
  });

  it('in a dry run tells of each request and each hop once, and refuses nothing', async () => {
    const server = await site(['/private/link']);
    const received: Decision[] = [];
    const { options, handled, skipped } = record();
    const guarded = withRobots(CheerioCrawler, client(), {
      mode: 'report',
      onRefusal: (decision) => void received.push(decision),
    });
    const crawler = new guarded(
      {
        ...options,
        requestHandler: async ({ request, enqueueLinks }) => {
          handled.push(request.url);
          await enqueueLinks();
        },
      },
      inMemory(),
    );
    await crawler.run([server.url('/to?/private/start')]);
    expect(handled).toEqual([server.url('/to?/private/start'), server.url('/private/link')]);
    expect(received.map(({ url }) => url)).toEqual([
      server.url('/private/start'),
      server.url('/private/link'),
    ]);
    expect(skipped).toEqual([]);
  });

  it('asks for the agent it is told, and not about what the filter lets out', async () => {
    const server = await site();
    const { options, handled, skipped } = record();
    const robotsClient = client();
    await robotsClient.check(server.origin);
    const guarded = withRobots(HttpCrawler, robotsClient, {
      agent: 'OtherBot',
      filter: ({ pathname }) => pathname !== '/api',
    });
    const crawler = new guarded(options, inMemory());
    await crawler.run([server.url('/page'), server.url('/api')]);
    expect(handled).toEqual([server.url('/api')]);
    expect(skipped.map(({ decision }) => decision?.agent)).toEqual(['OtherBot']);
  });

  it('asks about where the hooks of got lead a redirect', async () => {
    const server = await site();
    const { options, skipped } = record();
    const crawler = new (withRobots(HttpCrawler, client()))(
      {
        ...options,
        preNavigationHooks: [
          (_, gotOptions) => {
            const astray = (updated: { url?: unknown }): void =>
              void (updated.url = new URL(server.url('/private')));
            gotOptions.hooks = { beforeRedirect: [astray as never] };
          },
        ],
      },
      inMemory(),
    );
    await crawler.run([server.url('/to?/page')]);
    expect(skipped).toMatchObject([{ decision: { url: server.url('/private') } }]);
    expect(pagesOf(server)).toEqual(['/to?/page']);
  });

  it('asks about the URL that is requested, whatever a hook made of it', async () => {
    const server = await site();
    const { options, skipped } = record();
    const crawler = new (withRobots(HttpCrawler, client()))(
      { ...options, preNavigationHooks: [({ request }) => void (request.url = server.url('/private'))] },
      inMemory(),
    );
    await crawler.run([server.url('/page')]);
    expect(skipped).toMatchObject([{ decision: { url: server.url('/private') } }]);
    expect(pagesOf(server)).toEqual([]);
  });

  it('fails a request, once, that cannot be decided', async () => {
    const server = await site();
    const { options, failed } = record();
    let asked = 0;
    const filter = (): boolean => {
      // The first question is that of the queue.
      if (++asked > 1) throw new Error('the filter broke');
      return true;
    };
    const guarded = withRobots(HttpCrawler, client(), { filter });
    await new guarded({ ...options, maxRequestRetries: 0 }, inMemory()).run([server.url('/page')]);
    expect(failed).toMatchObject([{ message: 'the filter broke' }]);
    expect(server.requests).toEqual([]);
  });

  it('is the class it extends by name and by type', async () => {
    const guarded = withRobots(CheerioCrawler, client());
    expect(guarded.name).toBe('CheerioCrawler');
    expect(new guarded({}, inMemory())).toBeInstanceOf(CheerioCrawler);
    expectTypeOf(guarded).toEqualTypeOf<typeof CheerioCrawler>();
  });

  it('says what is wrong with what it is given', () => {
    const call = (...given: unknown[]): unknown => Reflect.apply(withRobots, undefined, given);
    expect(() => call(HttpCrawler, client(), { onDisallow: 'throw' })).toThrow(/got `onDisallow`/);
    expect(() => call(HttpCrawler, {})).toThrow(/Expected the client to be a RobotsClient/);
    expect(() => call(Map, client())).toThrow(
      'Expected a crawler class of Crawlee 3 (3.14 or later), got "Map", which has no `addRequests`',
    );
    expect(() => call('HttpCrawler', client())).toThrow(/got "HttpCrawler"/);
    expect(() => call(Object.create(null), client())).toThrow(/Expected a crawler class/);
    for (const respectRobotsTxtFile of [false, { userAgent: 'OtherBot' }]) {
      expect(
        () =>
          new (withRobots(HttpCrawler, client()))({ respectRobotsTxtFile, ...record().options }, inMemory()),
      ).toThrow(/Expected `respectRobotsTxtFile` to be left out or true/);
    }
  });
});

describe('withRobots, with pacing', () => {
  it('takes a slot for each request: navigations, their redirects, and each sendRequest', async () => {
    const server = await site();
    const paced = client();
    const permits = permitsOf(paced);
    const { options } = record();
    const crawler = new (withRobots(HttpCrawler, paced, { pacing: { defaultDelayMs: 0 } }))(
      { ...options, requestHandler: async ({ sendRequest }) => void (await sendRequest()) },
      inMemory(),
    );
    await crawler.run([server.url('/page'), server.url('/to?/page')]);
    expect(pagesOf(server)).toEqual(['/page', '/page', '/to?/page', '/page', '/to?/page', '/page']);
    expect(permits()).toEqual(pagesOf(server).map((path) => server.url(path)));
  });

  it('takes the slot of a BasicCrawler for its request, and one for what it sends besides', async () => {
    const server = await site();
    const paced = client();
    const permits = permitsOf(paced);
    const crawler = new (withRobots(BasicCrawler, paced, { pacing: { defaultDelayMs: 0 } }))(
      {
        ...record().options,
        requestHandler: async ({ sendRequest }) => {
          await sendRequest();
          await sendRequest();
        },
      },
      inMemory(),
    );
    await crawler.run([server.url('/page')]);
    expect(pagesOf(server)).toEqual(['/page', '/page']);
    expect(permits()).toHaveLength(2);
  });

  it('lets the queue know how long a request may wait, before it is given to another worker', async () => {
    const server = await site();
    const guarded = withRobots(HttpCrawler, client(), {
      pacing: { defaultDelayMs: 0, maxDelayMs: 400_000 },
    });
    const crawler = new guarded(record().options, inMemory());
    const queue = await crawler.getRequestQueue();
    const before = queue.requestLockSecs;
    await crawler.run([server.url('/page'), server.url('/2')]);
    expect(queue.requestLockSecs).toBe(before + 400 + 30);
  });
});

describe('withRobots, told to ignore robots.txt for one request', () => {
  it('makes it, and the redirects it meets, and no other', async () => {
    const server = await site(['/private/link']);
    const ignored = sentUnchecked();
    const { options, handled, skipped } = record();
    const crawler = new (withRobots(CheerioCrawler, client()))(
      {
        ...options,
        requestHandler: async ({ request, enqueueLinks, sendRequest }) => {
          handled.push(request.loadedUrl);
          await enqueueLinks();
          await enqueueLinks({ urls: [server.url('/private/asked')], userData: { robots } });
          expect(
            refusalIn(await sendRequest({ url: server.url('/private/api') }).catch((e: unknown) => e)),
          ).toBeDefined();
        },
      },
      inMemory(),
    );
    await crawler.run([
      { url: server.url('/to?/private/start'), userData: { robots } },
      { url: server.url('/private/other') },
    ]);
    expect(handled).toEqual([server.url('/private/start'), server.url('/private/asked')]);
    expect(new Set(skipped.map(({ url }) => url))).toEqual(
      new Set([server.url('/private/other'), server.url('/private/link')]),
    );
    expect(ignored).toEqual(
      ['/to?/private/start', '/private/start', '/private/asked'].map((path) => ({
        url: server.url(path),
        because,
      })),
    );
  });

  it('wants a reason, when the request is added or at the latest when it is made', async () => {
    const server = await site();
    const { options, failed } = record();
    const guarded = withRobots(HttpCrawler, client());
    const careless = { url: server.url('/page'), userData: { robots: { ignore: true } } };
    await expect(new guarded(options, inMemory()).run([careless])).rejects.toThrow(/`robots\.because`/);
    const requestList = await RequestList.open(null, [careless]);
    await new guarded({ ...options, requestList }, inMemory()).run();
    expect(failed).toMatchObject([{ code: 'ERR_ROBOTS_INVALID_OPTIONS' }]);
    expect(pagesOf(server)).toEqual([]);
  });

  it('tells two requests for one URL apart', async () => {
    const server = await site();
    const { options, handled, skipped } = record();
    const crawler = new (withRobots(HttpCrawler, client()))(options, inMemory());
    const url = server.url('/private');
    await crawler.run([
      { url, uniqueKey: 'asked' },
      { url, uniqueKey: 'ignored', userData: { robots } },
    ]);
    expect([handled, skipped.map((each) => each.url)]).toEqual([[url], [url]]);
    expect(pagesOf(server)).toEqual(['/private']);
  });
});

describe('sendRequest of a guarded crawler', () => {
  it('throws the refusal, of redirects too, and the request is not retried for it', async () => {
    const server = await site();
    const { options, failed, skipped } = record();
    const crawler = new (withRobots(HttpCrawler, client()))(
      {
        ...options,
        requestHandler: async ({ sendRequest }) => {
          const ignoring: object = { url: server.url('/private/2'), robots };
          expect((await sendRequest(ignoring)).statusCode).toBe(200);
          await sendRequest({ url: server.url('/to?/private') });
        },
      },
      inMemory(),
    );
    await crawler.run([server.url('/page')]);
    expect(failed.map((error) => refusalIn(error)?.decision?.url)).toEqual([server.url('/private')]);
    expect(skipped).toEqual([]);
    expect(pagesOf(server)).toEqual(['/page', '/private/2', '/to?/private']);
  });
});
