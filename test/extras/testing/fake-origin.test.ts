import { describe, expect, it } from 'vitest';
import { fakeOrigin, type FakeOrigin, type FakeOriginOptions } from '../../../src/extras/testing/index.ts';
import { opened } from '../../support/opened.ts';

async function started(options?: FakeOriginOptions): Promise<FakeOrigin> {
  return opened(await fakeOrigin(options));
}

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;
const codeOf = (failed: Promise<unknown>): Promise<unknown> =>
  failed.then(
    () => 'no failure',
    (error: Error) => Reflect.get(Object(error.cause), 'code'),
  );

describe('fakeOrigin', () => {
  it('without a script has no robots.txt, and pages', async () => {
    const site = await started();
    expect(await statusOf(site.url('/robots.txt'))).toBe(404);
    expect(await statusOf(site.url('/any?page'))).toBe(200);
  });

  it('gives the answers in their order, the last for good', async () => {
    const site = await started({
      robots: ['User-agent: *\nDisallow: /', { status: 503, headers: { 'retry-after': '60' } }],
    });
    const first = await fetch(site.url('/robots.txt'));
    expect([first.status, await first.text()]).toEqual([200, 'User-agent: *\nDisallow: /']);
    const second = await fetch(site.url('/robots.txt'));
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '60']);
    expect(await statusOf(site.url('/robots.txt'))).toBe(503);
  });

  it('counts what it is asked', async () => {
    const site = await started({ pages: { '/a': ['1', '2'], '/b': { body: new Uint8Array([0x62]) } } });
    expect(await (await fetch(site.url('/a'))).text()).toBe('1');
    expect(await (await fetch(site.url('/a'), { method: 'POST', headers: { 'x-mine': 'y' } })).text()).toBe(
      '2',
    );
    expect(await (await fetch(site.url('/b'))).text()).toBe('b');
    expect(await statusOf(site.url('/c'))).toBe(404);
    await fetch(site.url('/robots.txt'));
    expect([site.count('/a'), site.pageCount, site.robotsCount]).toEqual([2, 4, 1]);
    expect(site.requests[1]).toMatchObject({ method: 'POST', path: '/a', headers: { 'x-mine': 'y' } });
    expect(site.connections).toBeGreaterThan(0);
    await site.whenRequested('/a', 2);
  });

  it('redirects', async () => {
    const site = await started({ pages: { '/old': { redirect: '/new', status: 308 }, '/new': 'here' } });
    const response = await fetch(site.url('/old'));
    expect([response.url, await response.text()]).toEqual([site.url('/new'), 'here']);
  });

  it('asks a function for pages; what it throws is a 500', async () => {
    const site = await started({
      pages: ({ path }) => {
        if (path === '/throws') throw new Error('no such luck');
        return path === '/later' ? Promise.resolve('later') : undefined;
      },
    });
    expect(await (await fetch(site.url('/later'))).text()).toBe('later');
    expect(await statusOf(site.url('/none'))).toBe(404);
    const failed = await fetch(site.url('/throws'));
    expect([failed.status, await failed.text()]).toEqual([500, 'Error: no such luck']);
  });

  it('breaks connections: instead of an answer, and within one', async () => {
    const site = await started({ pages: { '/reset': { fault: 'reset' }, '/cut': { fault: 'truncate' } } });
    expect(await codeOf(fetch(site.url('/reset')))).toBe('ECONNRESET');
    const cut = await fetch(site.url('/cut'));
    expect(cut.status).toBe(200);
    expect(await codeOf(cut.text())).toBe('UND_ERR_SOCKET');
  });

  it('hangs until it is closed, or the client disconnects', async () => {
    const site = await started({ pages: { '/hang': { fault: 'hang' } } });
    const leaving = new AbortController();
    const left = fetch(site.url('/hang'), { signal: leaving.signal });
    await site.whenRequested('/hang');
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    const broken = codeOf(fetch(site.url('/hang')));
    await site.whenRequested('/hang', 2);
    await site.close();
    expect(await broken).toBe('UND_ERR_SOCKET');
    await site.close();
  });

  it('sends a body slowly', async () => {
    const site = await started({ pages: { '/drip': { fault: 'drip', body: 'drop', everyMs: 1 } } });
    expect(await (await fetch(site.url('/drip'))).text()).toBe('drop');
  });

  it.each([
    [{ robot: '' }, /only known options, got `robot`/],
    [{ robots: [] }, /`robots` to hold at least one response/],
    [{ robots: ['', 404] }, /`robots`, response 2, to be a string or an object, got "404"/],
    [{ robots: { status: 100 } }, /to be one with a `status` from 200 to 999/],
    [{ pages: { '/a': { fault: 'explode' } } }, /`pages\["\/a"\]`, response 1, to be one whose `fault` is/],
    [{ robots: { fault: 'drip' } }, /to be one with a `body` to drip/],
    [{ robots: { redirect: 1 } }, /to be one whose `redirect` is a string/],
  ])('refuses %j', async (options, message) => {
    await expect(Reflect.apply(fakeOrigin, undefined, [options])).rejects.toThrow(message);
  });
});
