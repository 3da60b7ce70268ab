import ky from 'ky';
import { createFetch } from 'ofetch';
import { fetch as undiciFetch, Request as UndiciRequest } from 'undici';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Decision, guardFetch, refusalIn, type RobotsClient } from '../../src/index.ts';
import { SECOND, START, testClient } from '../support/client.ts';
import { answer, type Handler, type Site, startSite } from '../support/site.ts';

const open: AsyncDisposable[] = [];

async function site(pages: Handler, robots = 'User-agent: *\nDisallow: /private\n'): Promise<Site> {
  const started = await startSite((request, response) => {
    if (request.url === '/robots.txt') answer(response, { body: robots });
    else pages(request, response);
  });
  open.push(started);
  return started;
}

function client(): RobotsClient {
  const { client: made } = testClient();
  open.push(made);
  return made;
}

const page: Handler = (_, response) => answer(response, { body: 'a page' });
const pagesOf = (each: Site): string[] =>
  each.requests.filter(({ url }) => url !== '/robots.txt').map(({ url }) => url);

afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

describe('onDisallow', () => {
  it("'response' answers 403, with the reason and the rule", async () => {
    const server = await site(page);
    const guarded = guardFetch(fetch, client(), { onDisallow: 'response' });
    const response = await guarded(server.url('/private/x#f'));
    expect(response.status).toBe(403);
    expect(response.url).toBe(server.url('/private/x'));
    expect(response.headers.get('x-robots-reason')).toBe('rule');
    expect(response.headers.get('x-robots-rule')).toBe('disallow: /private');
    expect(pagesOf(server)).toEqual([]);
  });

  it("'response' answers 503 with Retry-After while robots.txt is unreachable", async () => {
    const server = await startSite({ '/robots.txt': { status: 503, headers: { 'retry-after': '60' } } });
    open.push(server);
    const response = await guardFetch(fetch, client(), { onDisallow: 'response' })(server.url('/'));
    expect(response.status).toBe(503);
    expect(response.headers.get('x-robots-reason')).toBe('unreachable');
    expect(Date.parse(response.headers.get('retry-after') ?? '')).toBe(START + 60 * SECOND);
    expect(response.headers.has('x-robots-rule')).toBe(false);
  });

  it('a pattern of any octets makes a header that is safe', async () => {
    const server = await site(page, 'User-agent: *\nDisallow: /ツ\u0001\u007f*x\n');
    const response = await guardFetch(fetch, client(), { onDisallow: 'response' })(server.url('/ツ%01%7f/x'));
    expect(response.status).toBe(403);
    expect(response.headers.get('x-robots-rule')).toMatch(/^disallow: \/[\x20-\x7e]+$/);
  });

  it('a redirect that is refused is answered like that too', async () => {
    const server = await site((_, response) =>
      answer(response, { status: 302, headers: { location: '/private' } }),
    );
    const response = await guardFetch(fetch, client(), { onDisallow: 'response' })(server.url('/go'));
    expect({ status: response.status, url: response.url, redirected: response.redirected }).toEqual({
      status: 403,
      url: server.url('/private'),
      redirected: true,
    });
    expect(pagesOf(server)).toEqual(['/go']);
  });

  it('a function answers as it likes', async () => {
    const server = await site(page);
    const guarded = guardFetch(fetch, client(), {
      onDisallow: async (decision) => Response.json({ why: decision.reason }, { status: 451 }),
    });
    const response = await guarded(server.url('/private'));
    expect(response.status).toBe(451);
    expect(await response.json()).toEqual({ why: 'rule' });
  });
});

describe('mode and onRefusal', () => {
  it("'report' lets the request go on, and tells what would have been refused", async () => {
    const server = await site((request, response) =>
      request.url === '/go'
        ? answer(response, { status: 302, headers: { location: '/private/2' } })
        : page(request, response),
    );
    const told: Decision[] = [];
    const guarded = guardFetch(fetch, client(), {
      mode: 'report',
      onRefusal: (decision) => void told.push(decision),
    });
    expect((await guarded(server.url('/private/1'))).status).toBe(200);
    expect((await guarded(server.url('/go'))).status).toBe(200);
    expect(told.map(({ url }) => url)).toEqual([server.url('/private/1'), server.url('/private/2')]);
  });

  it('is told in mode enforce as well, and of nothing that is allowed', async () => {
    const server = await site(page);
    const onRefusal = vi.fn();
    const guarded = guardFetch(fetch, client(), { onRefusal });
    await guarded(server.url('/'));
    expect(onRefusal).not.toHaveBeenCalled();
    await expect(guarded(server.url('/private'))).rejects.toThrow(/disallows/);
    expect(onRefusal).toHaveBeenCalledOnce();
  });
});

describe('robots: { ignore: true, because }', () => {
  it('sends the request, tells why, and keeps it from the fetch that is wrapped', async () => {
    const server = await site(page);
    const onIgnore = vi.fn();
    const inner = vi.fn(fetch);
    const robots = client();
    const guarded = guardFetch<typeof fetch>(inner, robots, { onIgnore });
    const because = 'the owner asked for a link check';
    const response = await guarded(server.url('/private'), { robots: { ignore: true, because } });
    expect(response.status).toBe(200);
    expect(onIgnore.mock.calls).toEqual([[{ url: server.url('/private'), because }]]);
    expect(inner.mock.calls[0]?.[1]).not.toHaveProperty('robots');
    expect(robots.stats().attempts).toBe(0);
  });

  it.each([
    [{ ignore: true }, /`robots\.because` to be a reason, not empty, got "undefined"/],
    [{ ignore: true, because: ' ' }, /`robots\.because`/],
    [{ ignore: 'yes', because: 'x' }, /`robots\.ignore` to be true, got "yes"/],
    [{ ignore: true, why: 'x' }, /got `robots\.why`/],
    [true, /`robots` to be \{ ignore: true/],
  ])('%o is no reason', async (robots, message) => {
    const server = await site(page);
    const given: object = { robots };
    const pending = guardFetch(fetch, client())(server.url('/'), given);
    await expect(pending).rejects.toMatchObject({ code: 'ERR_ROBOTS_INVALID_OPTIONS' });
    await expect(pending).rejects.toThrow(message);
    expect(server.requests).toEqual([]);
  });
});

describe('filter', () => {
  it('says which requests are crawling; each redirect is asked about for itself', async () => {
    const server = await site((_, response) =>
      answer(response, { status: 302, headers: { location: '/private/page' } }),
    );
    const guarded = guardFetch(fetch, client(), { filter: (url) => !url.pathname.endsWith('/api') });
    await expect(guarded(server.url('/private/api'))).rejects.toMatchObject({
      decision: { url: server.url('/private/page') },
    });
    expect(pagesOf(server)).toEqual(['/private/api']);
  });
});

describe('options', () => {
  const call = (options: unknown): unknown =>
    Reflect.apply(guardFetch, undefined, [fetch, client(), options]);

  it.each([
    [{ mode: 'dry' }, /`mode` to be 'enforce' or 'report', got "dry" \(string\)/],
    [{ onDisallow: 403 }, /`onDisallow` to be 'throw', 'response' or a function, got "403" \(number\)/],
    [{ onRefusal: true }, /`onRefusal` to be a function of a decision/],
    [{ onIgnore: 1 }, /`onIgnore` to be a function/],
    [{ filter: '/api' }, /`filter` to be a function from a URL/],
    [{ toString: 1 }, /got `toString`/],
    [null, /the options to be an object, got "null"/],
  ])('%o is refused, naming option, expected and got', (options, message) => {
    expect(() => call(options)).toThrow(message);
    expect(() => call(options)).toThrow(expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' }));
  });
});

describe('a Request of another realm', () => {
  const echo: Handler = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const header = request.headers['x-a'];
      answer(response, { body: `${request.method} ${String(header)} ${Buffer.concat(chunks).toString()}` });
    });
  };
  // Each realm calls these types by its own name.
  const fetches = {
    "Node's Request to undici's fetch": [undiciFetch as unknown as typeof fetch, Request],
    "undici's Request to Node's fetch": [fetch, UndiciRequest as unknown as typeof Request],
  } as const;

  it.each(Object.entries(fetches))('%s', async (_, [inner, Foreign]) => {
    const server = await site((request, response) =>
      request.url === '/go'
        ? answer(response, { status: 303, headers: { location: '/end' } })
        : echo(request, response),
    );
    const guarded = guardFetch(inner, client());
    const make = (path: string): Request =>
      new Foreign(server.url(path), { method: 'POST', body: 'payload', headers: { 'x-a': 'b' } });
    expect(await (await guarded(make('/end'))).text()).toBe('POST b payload');
    expect(await (await guarded(make('/go'))).text()).toBe('GET b ');
    expect(await (await guarded(make('/end'), { redirect: 'manual' })).text()).toBe('POST b payload');
    await expect(guarded(make('/private'))).rejects.toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
  });
});

describe('an abort', () => {
  it.each(['robots.txt', 'the page', 'the body', 'the redirect', 'the page behind it'])(
    'while %s is awaited leaves no open socket',
    async (stage) => {
      let reached = (): void => undefined;
      let left = (): void => undefined;
      const waiting = new Promise<void>((resolve) => (reached = resolve));
      const gone = new Promise<void>((resolve) => (left = resolve));
      const hang: Handler = (request) => {
        request.socket.once('close', left);
        reached();
      };
      const other = await startSite((request, response) => {
        if (stage === 'the redirect') hang(request, response);
        else answer(response, { status: 404 });
      });
      open.push(other);
      const server = await startSite((request, response) => {
        if (request.url === '/robots.txt') {
          if (stage === 'robots.txt') hang(request, response);
          else answer(response, { status: 404 });
        } else if (request.url === '/' && stage === 'the redirect') {
          answer(response, { status: 302, headers: { location: other.url('/end') } });
        } else if (request.url === '/' && stage === 'the page behind it') {
          answer(response, { status: 302, headers: { location: '/end' } });
        } else {
          if (stage === 'the body') response.write('half of it, ');
          hang(request, response);
        }
      });
      open.push(server);
      const leaving = new AbortController();
      const pending = guardFetch(fetch, client())(server.url('/'), { signal: leaving.signal }).then(
        (response) => response.text(),
      );
      pending.catch(() => undefined);
      await waiting;
      leaving.abort(new Error('changed my mind'));
      await expect(pending).rejects.toThrow();
      await gone;
    },
  );
});

describe('refusalIn', () => {
  it('finds the refusal behind what clients throw', async () => {
    const server = await site(page);
    const refusal = await guardFetch(
      fetch,
      client(),
    )(server.url('/private')).catch((error: unknown) => error);
    const wrapped = new TypeError('fetch failed', { cause: new Error('outer', { cause: refusal }) });
    expect(refusalIn(wrapped)).toBe(refusal);
    const circle = new Error('circle');
    circle.cause = circle;
    for (const other of [circle, undefined, null, 'text', { code: 'ERR_ROBOTS_DISALLOWED' }]) {
      expect(refusalIn(other)).toBeUndefined();
    }
  });
});

describe('the type of a guarded fetch', () => {
  it('is one that Node, undici, ky and ofetch take for a fetch', () => {
    const robots = client();
    const ofNode: typeof fetch = guardFetch(fetch, robots);
    const ofUndici: typeof undiciFetch = guardFetch(undiciFetch, robots);
    const forKy = ky.create({ fetch: guardFetch(fetch, robots) });
    const forOfetch = createFetch({ fetch: guardFetch(fetch, robots) });
    for (const each of [ofNode, ofUndici, forKy, forOfetch]) expect(each).toBeTypeOf('function');
  });
});
