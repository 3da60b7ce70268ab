import { request } from 'undici';
import { describe, expect, it, vi } from 'vitest';

import { guardFetch, type GuardFetchOptions } from '../../src/index.ts';
import { answer, type Site } from '../support/site.ts';
import { AGENT, guardedAgent, libraries, namedClient } from './libraries.ts';
import { echo, realms, recording, scriptedClient, site } from './support.ts';

/** Redirects `/to` to `/page`. */
const redirecting = (): Promise<Site> =>
  site(({ url }, response) =>
    url === '/to'
      ? answer(response, { status: 302, headers: { location: '/page' } })
      : answer(response, { body: url === '/robots.txt' ? '' : 'a page' }),
  );
const agentsOf = ({ requests }: Site): unknown[] => requests.map(({ headers }) => headers['user-agent']);

/** As jsdom sends it. */
const JSDOM = 'Mozilla/5.0 (linux) AppleWebKit/537.36 (KHTML, like Gecko) jsdom/26.1.0';

it('a library that poses as a browser is warned of, once, and not with `identify: false`', async () => {
  const server = await redirecting();
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
  const get = async (options: GuardFetchOptions<Response>, userAgent: string): Promise<void> => {
    const guarded = guardFetch(fetch, namedClient(), options);
    const response = await guarded(server.url('/page'), { headers: { 'user-agent': userAgent } });
    await response.text();
  };
  // A body of an earlier file, which nobody reads, is warned of after 2 s.
  const ofNames = (): unknown[] => warn.mock.calls.filter(([text]) => !String(text).includes('the body'));
  await get({ identify: false }, JSDOM);
  await get({}, 'OtherBot/1.0');
  expect(ofNames()).toEqual([]);
  for (let time = 0; time < 2; time++) await get({}, JSDOM);
  expect(ofNames()).toEqual([
    [
      `robots.txt is checked for ExampleBot, but pages are requested as ${JSON.stringify(JSDOM)}: a header field ` +
        '`User-Agent` in the library that sends them sends the name of the client, `identify: false` silences this warning',
      expect.objectContaining({ code: 'CANFETCH_OTHER_IDENTITY' }),
    ],
  ]);
  warn.mockRestore();
});

describe.each(libraries)('who is asking: %s', (_, make) => {
  it('a request that carries no User-Agent is of the client, and so are its redirects', async () => {
    const server = await redirecting();
    await make({})(server.url('/to'));
    const got = agentsOf(server);
    expect(got.length).toBeGreaterThanOrEqual(2);
    expect(new Set(got)).toEqual(new Set([AGENT]));
  });

  it('what the caller set stays', async () => {
    const server = await redirecting();
    const get = make({});
    await get(server.url('/page'), { headers: { 'User-Agent': 'examplebot/9' } });
    await get(server.url('/page'));
    await get(server.url('/page'), { headers: { 'user-agent': 'OtherBot/2.0' } });
    expect(agentsOf(server).slice(1)).toEqual(['examplebot/9', AGENT, 'OtherBot/2.0']);
  });

  it('`identify: false` leaves requests as they are', async () => {
    const server = await redirecting();
    await make({ identify: false })(server.url('/page'));
    expect(agentsOf(server)[0]).toBe(AGENT);
    expect(agentsOf(server)[1]).not.toBe(AGENT);
  });

  it('is the agent of the guard, where it has one of its own', async () => {
    const server = await redirecting();
    await make({ agent: 'OtherBot/2.0' })(server.url('/page'));
    expect(agentsOf(server)).toEqual([AGENT, 'OtherBot/2.0']);
  });
});

describe('who is asking: forms of headers', () => {
  it.each([
    ['nothing', undefined],
    ['a flat list', ['X-Own', 'kept']],
    ['pairs', new Map([['X-Own', 'kept']])],
    ['an object', { 'X-Own': 'kept' }],
    ['the default of a library', { 'X-Own': 'kept', 'User-Agent': 'undici' }],
  ])('undici: %s', async (_, headers) => {
    const server = await site(echo);
    const dispatcher = guardedAgent({});
    const { body } = await request(server.url('/page'), {
      dispatcher,
      headers: headers as Record<string, string>,
    });
    const { rawHeaders } = (await body.json()) as { readonly rawHeaders: readonly string[] };
    expect(rawHeaders.filter((name) => /^user-agent$/i.test(name))).toHaveLength(1);
    expect(rawHeaders).toContain(AGENT);
    if (headers !== undefined) expect(rawHeaders).toContain('X-Own');
  });

  it.each(realms)('%s: a Request, pairs, Headers, and an object', async (_, send, Request) => {
    const server = await redirecting();
    const guarded = guardFetch(send, namedClient());
    const url = server.url('/page');
    await guarded(new Request(url, { method: 'POST', body: 'text', headers: { 'x-own': 'kept' } }));
    await guarded(url, { method: 'POST', body: 'text', headers: [['x-own', 'kept']] });
    await guarded(url, { method: 'POST', body: 'text', headers: { 'X-Own': 'kept' } });
    const own = new globalThis.Headers({ 'x-own': 'kept' });
    await guarded(url, { method: 'POST', body: 'text', headers: own });
    expect(own.has('user-agent')).toBe(false);
    await guarded(new Request(url, { headers: { 'user-agent': 'OtherBot/2' } }));
    const pages = server.requests.slice(1);
    for (const { headers } of pages.slice(0, 4)) {
      expect(headers).toMatchObject({
        'user-agent': AGENT,
        'x-own': 'kept',
        'content-type': 'text/plain;charset=UTF-8',
      });
    }
    expect(pages[4]?.headers['user-agent']).toBe('OtherBot/2');
  });
});

describe('the identity of a guard', () => {
  /** The User-Agent of the page, where the library gives this one. */
  async function sentFor(agent: string | readonly string[], given?: string | null) {
    const [recorded, calls] = recording(async () => new Response());
    const headers = given === undefined ? {} : { 'User-Agent': given };
    const init: object = { headers };
    await guardFetch(recorded, scriptedClient(), { agent })('https://example.com/a', init);
    return new Headers(calls[0]?.[1].headers).get('user-agent');
  }

  it('is the first of a list of agents', async () => {
    const agents = ['FirstBot/1.0', 'SecondBot'];
    expect(await sentFor(agents)).toBe('FirstBot/1.0');
    const second = 'Mozilla/5.0 (compatible; SecondBot/2)';
    expect(await sentFor(agents, second)).toBe(second);
  });

  it.each([undefined, '', 'node', 'undici', 'axios/1.2.3', 'axios/1.13.0-beta.1'])(
    'takes the place of %j',
    async (given) => {
      expect(await sentFor('ExampleBot/1.0', given)).toBe('ExampleBot/1.0');
    },
  );

  it.each(['node-fetch', 'axios', 'axios/1', 'my axios/1.2.3'])('leaves %j', async (given) => {
    expect(await sentFor('ExampleBot/1.0', given)).toBe(given);
  });

  it('of all agents is not sent', async () => {
    expect(await sentFor('*')).toBeNull();
    expect(await sentFor('*', 'OtherBot')).toBe('OtherBot');
  });
});
