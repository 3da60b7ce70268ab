import { describe, expect, it } from 'vitest';
import { type Decision, guardFetch, refusalIn, RobotsClient } from '../../src/index.ts';
import { opened } from '../support/opened.ts';
import { answer, type Site } from '../support/site.ts';
import { libraries, namedClient } from './libraries.ts';
import { site } from './support.ts';

const RULES = 'User-agent: *\nAllow: /\nContent-Usage: /no/ train-ai=n\nContent-Usage: /yes/ train-ai=y\n';
const training = (): Promise<Site> =>
  site(({ url }, response) => {
    if (url === '/robots.txt') answer(response, { body: RULES });
    else if (url === '/header')
      answer(response, { headers: { 'content-usage': 'train-ai=n' }, body: 'a page' });
    else if (url === '/signal')
      answer(response, { headers: { 'content-signal': 'ai-train=yes' }, body: 'a page' });
    else answer(response, { body: 'a page' });
  });
const failure = (pending: Promise<unknown>): Promise<unknown> =>
  pending.then(
    () => expect.fail('expected a refusal'),
    (error: unknown) => refusalIn(error),
  );

describe.each(libraries)('a purpose: %s', (_, make) => {
  it('without a statement `onUnknownPurpose` decides', async () => {
    const server = await training();
    const get = make({ purpose: 'train-ai', onUnknownPurpose: 'refuse' });
    expect(await failure(get(server.url('/a')))).toMatchObject({ usage: { preference: 'unknown' } });
    expect(await get(server.url('/yes/a'))).toBe('a page');
    expect(await get(server.url('/signal'))).toBe('a page');
  });

  it('another purpose, and none, are not concerned', async () => {
    const server = await training();
    expect(await make({ purpose: 'search' })(server.url('/no/a'))).toBe('a page');
    expect(await make({})(server.url('/header'))).toBe('a page');
  });

  it('a dry run reports once, and gets the page', async () => {
    const server = await training();
    const received: Decision[] = [];
    const get = make({
      purpose: 'train-ai',
      mode: 'report',
      onRefusal: (decision) => received.push(decision),
    });
    expect(await get(server.url('/no/a'))).toBe('a page');
    expect(await get(server.url('/header'))).toBe('a page');
    expect(received.map(({ url }) => url)).toEqual([server.url('/no/a'), server.url('/header')]);
  });
});

describe('a purpose', () => {
  it('lets ignored requests pass', async () => {
    const server = await training();
    const guarded = guardFetch(fetch, namedClient(), { purpose: 'train-ai' });
    const robots = { ignore: true, because: 'a test' };
    expect((await guarded(server.url('/no/a'), { robots } as RequestInit)).status).toBe(200);
    expect((await guarded(server.url('/header'), { robots } as RequestInit)).status).toBe(200);
  });

  it('cancels the body of an answer whose header disallows it', async () => {
    let cancelled = false;
    const body = new ReadableStream({ cancel: () => void (cancelled = true) });
    const headers = [
      ['content-usage', 'search=y'],
      ['Content-Usage', 'train-ai=n'],
    ] as [string, string][];
    const robots = namedClient();
    const server = await training();
    await robots.check(server.url('/'));
    const guarded = guardFetch(async (_url: string) => new Response(body, { headers }), robots, {
      purpose: 'train-ai',
      onDisallow: 'response',
    });
    const response = await guarded(server.url('/a'));
    expect([response.status, response.headers.get('x-robots-reason')]).toEqual([403, 'usage']);
    expect(cancelled).toBe(true);
  });

  it('is answered by `check`, and does not change `allowed`', async () => {
    const server = await training();
    const robots = namedClient();
    const asked = await robots.check(server.url('/no/a'), undefined, { purpose: 'train-ai' });
    expect(asked).toMatchObject({
      allowed: true,
      usage: { purpose: 'train-ai', preference: 'disallow', source: { line: 3 }, search: 'unknown' },
    });
    expect(await robots.check(server.url('/no/a'))).not.toHaveProperty('usage');
    await expect(
      robots.check(server.url('/a'), undefined, { purpose: 'fun' as never }),
    ).rejects.toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
    });
  });

  it('applies also when the file was evicted before the decision', async () => {
    const robots = opened(
      new RobotsClient({
        agent: 'ExampleBot/1.0',
        cache: { maxOrigins: 1, maxBytes: 1_048_576 },
        transport: {
          fetch: async () => new Response('User-agent: *\nAllow: /\nContent-Usage: train-ai=n\n'),
        },
      }),
    );
    const urls = Array.from({ length: 40 }, (_, site) => `https://${site}.example/`);
    const checked = await Promise.all(
      urls.map((url) => robots.check(url, undefined, { purpose: 'train-ai' })),
    );
    expect(new Set(checked.map(({ usage }) => usage?.preference))).toEqual(new Set(['disallow']));
    const guarded = guardFetch(async (_url: string) => new Response('a page'), robots, {
      purpose: 'train-ai',
    });
    const codes = await Promise.all(
      urls.map((url) =>
        guarded(url).then(
          () => 'sent',
          (error: unknown) => refusalIn(error)?.code,
        ),
      ),
    );
    expect(new Set(codes)).toEqual(new Set(['ERR_ROBOTS_USAGE']));
  });
});
