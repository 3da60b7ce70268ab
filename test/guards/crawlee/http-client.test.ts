import {
  GotScrapingHttpClient,
  HttpCrawler,
  type HttpRequest,
  type StreamingHttpResponse,
} from '@crawlee/http';
import { describe, expect, it } from 'vitest';
import { withRobots } from '../../../src/guards/crawlee/crawlee.ts';
import { guardHttpClient } from '../../../src/guards/crawlee/http-client.ts';
import { refusalIn } from '../../../src/index.ts';
import { inMemory } from '../../support/crawlee.ts';
import { Guard } from '../../../src/guards/shared/guard.ts';
import { scriptedClient } from '../support.ts';
import { client, pagesOf, record, site } from './support.ts';

/** A client that is not Crawlee's own, as far as the guard can tell. */
class OwnClient extends GotScrapingHttpClient {
  readonly sent: HttpRequest[] = [];

  override stream(
    request: HttpRequest,
    ...rest: Parameters<GotScrapingHttpClient['stream']> extends [unknown, ...infer Rest] ? Rest : never
  ): Promise<StreamingHttpResponse> {
    this.sent.push(request);
    return super.stream(request, ...rest);
  }
}

/** Follows redirects whatever it is told. */
class HeedlessClient extends OwnClient {
  override stream(request: HttpRequest, ...rest: never[]): Promise<StreamingHttpResponse> {
    return super.stream({ ...request, followRedirect: true }, ...rest);
  }
}

describe('withRobots, with an httpClient of its own', () => {
  it.each([undefined, new OwnClient()])(
    'sends one Cookie at a hop: that of the session (%s)',
    async (own) => {
      const server = await site();
      const crawler = new (withRobots(HttpCrawler, client()))(
        { ...record().options, ...(own === undefined ? {} : { httpClient: own }) },
        inMemory(),
      );
      await crawler.run([{ url: server.url('/to?/page'), headers: { cookie: 'b=2' } }]);
      expect(server.requests.slice(1).map(({ headers }) => headers.cookie)).toEqual(['b=2', 'a=1']);
      if (own !== undefined) expect(Object.keys(own.sent[1]?.headers ?? {})).not.toContain('cookie');
    },
  );

  it('follows redirects itself, hop by hop, with the cookies of the session', async () => {
    const server = await site();
    const other = await site();
    const { options } = record();
    const arrived: unknown[] = [];
    const httpClient = new OwnClient();
    const crawler = new (withRobots(HttpCrawler, client()))(
      {
        ...options,
        httpClient,
        requestHandler: async ({ request, sendRequest }) => {
          const { url, redirectUrls } = await sendRequest();
          arrived.push(request.loadedUrl, [url, redirectUrls.map(String)]);
        },
      },
      inMemory(),
    );
    const start = server.url(`/to?/to?${other.url('/page')}`);
    await crawler.run([
      {
        url: start,
        method: 'POST',
        payload: 'x',
        useExtendedUniqueKey: true,
        headers: { authorization: 'Basic eDp5' },
      },
    ]);
    expect(arrived).toEqual([
      other.url('/page'),
      [other.url('/page'), [server.url(`/to?${other.url('/page')}`), other.url('/page')]],
    ]);
    expect(httpClient.sent.map(({ method, followRedirect }) => [method, followRedirect])).toEqual([
      ['POST', false],
      ['GET', false],
      ['GET', false],
    ]);
    const hop = server.requests.find(({ url }) => url === `/to?${other.url('/page')}`);
    expect(hop?.headers).toMatchObject({ cookie: 'a=1', authorization: 'Basic eDp5' });
    expect(other.requests.at(-1)?.headers).not.toHaveProperty('authorization');
  });

  it.each([
    ['followRedirect: false', { followRedirect: false }, '/to?/to?/page'],
    ['a function', { followRedirect: () => true }, '/page'],
    ['maxRedirects', { maxRedirects: 1 }, undefined],
  ])('does as the options of the request say of redirects: %s', async (_, gotOptions, loaded) => {
    const server = await site();
    const { options, failed } = record();
    let arrived: string | undefined;
    const crawler = new (withRobots(HttpCrawler, client()))(
      {
        ...options,
        maxRequestRetries: 0,
        additionalMimeTypes: ['*/*'],
        httpClient: new OwnClient(),
        preNavigationHooks: [(_context, own) => void Object.assign(own, gotOptions)],
        requestHandler: ({ request }) => void (arrived = request.loadedUrl),
      },
      inMemory(),
    );
    await crawler.run([server.url('/to?/to?/page')]);
    if (loaded === undefined)
      expect(failed).toMatchObject([{ message: expect.stringContaining('Expected at most 1 redirects') }]);
    else expect(arrived).toBe(server.url(loaded));
  });

  it('finds out one that follows redirects all the same, and says so', async () => {
    const server = await site();
    const { options, handled, failed } = record();
    const crawler = new (withRobots(HttpCrawler, client()))(
      { ...options, httpClient: new HeedlessClient() },
      inMemory(),
    );
    await crawler.run([server.url('/to?/page')]);
    expect(handled).toEqual([]);
    expect(failed).toMatchObject([
      { code: 'ERR_ROBOTS_INVALID_OPTIONS', message: expect.stringContaining('followRedirects: false') },
    ]);
    expect(refusalIn(failed[0])).toBeUndefined();
    expect(pagesOf(server)).toEqual(['/to?/page', '/page']);
    // Nothing more goes out by it.
    await crawler.run([server.url('/another')]);
    expect(failed).toHaveLength(2);
    expect(pagesOf(server)).toHaveLength(2);
  });

  it('does not take one that says it follows redirects by itself', () => {
    const httpClient = Object.assign(new OwnClient(), { followRedirects: true });
    const guarded = withRobots(HttpCrawler, client());
    expect(() => new guarded({ ...record().options, httpClient }, inMemory())).toThrow(
      /Expected an `httpClient` that leaves redirects to the guard, but it is set to follow them unchecked/,
    );
  });
});

it.each([
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
  ['rejects', () => Promise.reject(new Error('broken'))],
  [
    'follows redirects by itself',
    () => Promise.resolve({ statusCode: 200, headers: {}, url: 'https://b.example/' }),
  ],
])('the place of a request is free when the httpClient %s', async (_, send) => {
  const guard = new Guard(scriptedClient(), { pacing: { defaultDelayMs: 0, maxDelayMs: 0 } });
  const guarded = guardHttpClient({ sendRequest: send, stream: send }, () => ({ guard, because: undefined }));
  const sent = (): Promise<unknown> => guarded.sendRequest({ url: 'https://a.example/' });
  await expect(sent()).rejects.toThrow(Error);
  const planned = guard.plan('https://a.example/next');
  expect(await planned.admit()).toBeUndefined();
  planned.finish();
  await expect(sent()).rejects.toThrow(Error);
});
