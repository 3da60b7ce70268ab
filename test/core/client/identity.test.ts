import axios from 'axios';
import got from 'got';
import { Agent, ProxyAgent } from 'undici';
import { describe, expect, it } from 'vitest';
import { axiosTransport } from '../../../src/guards/axios/axios.ts';
import { gotTransport } from '../../../src/guards/got/got.ts';
import type { RobotsClientOptions } from '../../../src/index.ts';
import { DAY } from '../../support/client.ts';
import { startProxy } from '../../support/proxy.ts';
import { answer, movedTo, type Site } from '../../support/site.ts';
import { opened, openedSite as site, openedClient as client } from '../../support/opened.ts';

const RULES = { body: 'User-agent: *\nDisallow: /x\n' };
const OVER: readonly (readonly [name: string, RobotsClientOptions])[] = [
  ['undici', {}],
  ['fetch', { transport: { fetch } }],
];

describe('the request for robots.txt goes where page requests go', () => {
  it("over the connection of the caller's dispatcher that pages go over", async () => {
    const server = await site({ '/robots.txt': RULES, '/page': { body: 'page' } });
    const dispatcher = new Agent({ connections: 1 });
    const { robots } = client({ dispatcher });
    await robots.canFetch(server.url('/page'));
    const page = await dispatcher.request({ origin: server.origin, path: '/page', method: 'GET' });
    await page.body.text();
    expect(server.connections()).toBe(1);
    await robots.close();
    await dispatcher.close();
  });

  it("through the caller's proxy, which alone resolves the name and alone sees its own credentials", async () => {
    const proxy = opened(await startProxy());
    const server = await site({ '/robots.txt': RULES });
    const origin = server.origin.replace('127.0.0.1', 'site.test');
    const dispatcher = new ProxyAgent({ uri: proxy.url, token: 'Basic c2VjcmV0' });
    const { robots } = client({ dispatcher });
    expect(await robots.canFetch(`${origin}/x`)).toBe(false);
    expect(proxy.tunnels).toEqual([
      { authority: origin.slice('http://'.length), authorization: 'Basic c2VjcmV0' },
    ]);
    expect(server.requests.map(({ headers }) => headers.host)).toEqual([origin.slice('http://'.length)]);
    expect(server.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
    await dispatcher.close();
  });
});

describe.each(OVER)('the header section of a robots.txt request over %s', (name, options) => {
  const own = ['accept', 'accept-encoding', 'connection', 'host', 'user-agent'];
  const ofFetch = name === 'fetch' ? ['accept-language', 'sec-fetch-mode'] : [];

  it('has the necessary fields, and nothing else of the caller', async () => {
    const server = await site((_request, response) =>
      answer(response, {
        ...RULES,
        headers: { 'set-cookie': 'session=1; Path=/', 'cache-control': 'no-store' },
      }),
    );
    const { robots, clock } = client(options);
    await robots.canFetch(server.url('/x').replace('://', '://user:secret@'));
    clock.advance(DAY);
    await robots.canFetch(server.url('/x?token=secret#secret'));
    expect(server.requests).toHaveLength(2);
    for (const { method, url, headers } of server.requests) {
      expect([method, url]).toEqual(['GET', '/robots.txt']);
      expect(Object.keys(headers).sort()).toEqual([...own, ...ofFetch].sort());
      expect(headers['user-agent']).toBe('ExampleBot/1.0 (+https://example.com/bot)');
    }
  });

  it('has the first of a list of agents as User-Agent', async () => {
    const server = await site({ '/robots.txt': RULES });
    const { robots } = client({
      ...options,
      agent: ['FirstBot/1.0 (+https://example.com)', 'SecondBot/2.0'],
    });
    await robots.canFetch(server.url('/'));
    expect(server.requests.map(({ headers }) => headers['user-agent'])).toEqual([
      'FirstBot/1.0 (+https://example.com)',
    ]);
  });

  it('has the result of headersForRobots for its origin', async () => {
    const servers = await Promise.all(Array.from({ length: 8 }, () => site({ '/robots.txt': RULES })));
    const asked: string[] = [];
    const { robots } = client({
      ...options,
      headersForRobots: (origin) => {
        asked.push(origin);
        return origin === servers[0]!.origin ? undefined : { Authorization: `Bearer ${origin}` };
      },
    });
    await Promise.all(servers.flatMap((server) => [1, 2].map(() => robots.canFetch(server.url('/x')))));
    expect(asked.sort()).toEqual(servers.map(({ origin }) => origin).sort());
    expect(servers.map(({ requests }) => requests.map(({ headers }) => headers.authorization))).toEqual(
      servers.map(({ origin }, index) => [index === 0 ? undefined : `Bearer ${origin}`]),
    );
  });

  it('stays with its origin when another is redirected to', async () => {
    const other = await site({ '/robots.txt': { ...RULES, headers: { etag: '"other"' } } });
    const server = await site({
      '/robots.txt': [
        { status: 302, headers: { location: other.url('/robots.txt'), etag: '"mine"' } },
        movedTo(other.url('/robots.txt')),
        { ...RULES, headers: { etag: '"mine"' } },
        movedTo(other.url('/robots.txt')),
      ],
    });
    const { robots, clock } = client({
      ...options,
      headersForRobots: (origin) => (origin === server.origin ? { 'x-staging': 'key', cookie: 'a=b' } : {}),
    });
    for (let attempt = 0; attempt < 4; attempt++) {
      await robots.canFetch(server.url('/x'));
      clock.advance(DAY);
    }
    const seen = ({ requests }: Site): unknown[] =>
      requests.map(({ headers }) => [headers['x-staging'], headers['cookie'], headers['if-none-match']]);
    // A validator goes to the URL that gave it, whichever site redirects there.
    expect(seen(server)).toEqual([
      ['key', 'a=b', undefined],
      ['key', 'a=b', undefined],
      ['key', 'a=b', undefined],
      ['key', 'a=b', '"mine"'],
    ]);
    expect(seen(other)).toEqual([
      [undefined, undefined, undefined],
      [undefined, undefined, '"other"'],
      [undefined, undefined, undefined],
    ]);
  });

  it.each<[string, RobotsClientOptions]>([
    ['its own', {}],
    ['a fetch', { transport: { fetch } }],
    ['got', { transport: gotTransport(got) }],
    ['axios', { transport: axiosTransport(axios.create()) }],
  ])('has the result of headersForRobots for the origin of each redirect, over %s', async (_, transport) => {
    const other = await site((_request, response) => answer(response, movedTo(server.url('/rules.txt'))));
    const server: Site = await site({
      '/robots.txt': movedTo(other.url('/there')),
      '/rules.txt': RULES,
    });
    const keys = new Map([
      [server.origin, 'ours'],
      [other.origin, 'theirs'],
    ]);
    const { robots } = client({
      ...options,
      ...transport,
      headersForRobots: (origin) => ({ 'x-staging': keys.get(origin) ?? 'nobody' }),
    });
    expect(await robots.canFetch(server.url('/x'))).toBe(false);
    expect(server.requests.map(({ headers }) => headers['x-staging'])).toEqual(['ours', 'ours']);
    expect(other.requests.map(({ headers }) => headers['x-staging'])).toEqual(['theirs']);
  });
});
