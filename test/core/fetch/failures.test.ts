import { describe, expect, it } from 'vitest';
import { fetchTransport, type FetchedResponse } from '../../../src/core/fetch/fetch-transport.ts';
import { Moment } from '../../support/moment.ts';
import { context, TRANSPORTS } from './context.ts';
import { movedTo } from '../../support/site.ts';

describe.each(TRANSPORTS)('failures over %s', (name, make) => {
  const { site, fetch, transport } = context(make());

  it('has one deadline for all hops', async () => {
    const { origin, requests } = await site((request, response) => {
      const hop = Number((request.url ?? '').slice(2)) || 0;
      setTimeout(() => response.writeHead(302, { location: `/r${hop + 1}` }).end(), 40);
    });
    const outcome = await fetch(origin, { deadlineMs: 100 });
    expect(outcome).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_DEADLINE' });
    expect(requests.length).toBeLessThan(5);
  });

  it("rejects with the caller's reason, aborted before the request, the headers or the end of the body", async () => {
    const reason = new Error('left');
    let abort = new AbortController();
    const silent = await site(() => abort.abort(reason));
    await expect(fetch(silent.origin, { signal: abort.signal })).rejects.toBe(reason);

    abort = new AbortController();
    const dripping = await site((_request, response) => {
      response.write('User-agent');
      setImmediate(() => abort.abort(reason));
    });
    await expect(fetch(dripping.origin, { signal: abort.signal })).rejects.toBe(reason);

    const untouched = await site({});
    await expect(fetch(untouched.origin, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(untouched.requests.length).toBe(0);
  });

  it('does not wait for discarded bodies that never end', async () => {
    const closed = new Moment();
    const { origin } = await site((_request, response) => {
      response.writeHead(404);
      response.write('…');
      response.on('close', closed.now);
    });
    expect(await fetch(origin)).toMatchObject({ kind: 'unavailable', status: 404 });
    await closed.come;
  });

  it('complete many attempts at one redirect target although its first response hangs', async () => {
    const target = await site((_request, response) => {
      if (target.requests.length > 1) response.end('Allow: /\n');
    });
    const origins = await Promise.all(
      [1, 2, 3].map(() => site({ '/robots.txt': movedTo(target.url('/robots.txt'), 301) })),
    );
    // The first caller waits until it is aborted, which happens when the others are served.
    const leaving = new AbortController();
    let served = 0;
    const outcomes = await Promise.allSettled(
      origins.map(async ({ origin }) => {
        const { kind } = await fetch(origin, { signal: leaving.signal });
        if (++served === 2) leaving.abort(new Error('left'));
        return kind;
      }),
    );
    expect(outcomes.filter(({ status }) => status === 'rejected').length).toBe(1);
    expect(outcomes.filter((each) => each.status === 'fulfilled' && each.value === 'success').length).toBe(2);
  });

  it.runIf(name === 'undici')('turns a closed transport into an outcome', async () => {
    const { origin, requests } = await site({});
    await transport.close?.();
    expect(await fetch(origin)).toMatchObject({ kind: 'unreachable', error: 'UND_ERR_DESTROYED' });
    expect(requests.length).toBe(0);
  });
});

const response = (init: Partial<FetchedResponse>): FetchedResponse => ({
  status: 200,
  headers: new Headers(),
  body: null,
  ...init,
});

describe('a fetch that differs from the Fetch standard', () => {
  const { fetch } = context(fetchTransport(() => Promise.reject(new Error('unused'))));
  const origin = 'https://example.com';

  it('is called with method, headers, redirect and signal', async () => {
    const calls: unknown[] = [];
    const transport = fetchTransport((url, init) => {
      calls.push([url, Object.keys(init), init.method, init.redirect]);
      return Promise.resolve(response({}));
    });
    expect(await fetch(origin, { transport })).toMatchObject({ kind: 'success', body: new Uint8Array(0) });
    expect(calls).toEqual([
      ['https://example.com/robots.txt', ['method', 'headers', 'redirect', 'signal'], 'GET', 'manual'],
    ]);
  });

  it.each([
    [new Error('no code'), 'ERR_ROBOTS_FETCH_FAILED'],
    ['a string', 'ERR_ROBOTS_FETCH_FAILED'],
    [undefined, 'ERR_ROBOTS_FETCH_FAILED'],
    [new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'EPIPE' }) }), 'EPIPE'],
    [
      new AggregateError([new Error('x'), Object.assign(new Error('y'), { code: 'ENETUNREACH' })]),
      'ENETUNREACH',
    ],
    [Object.assign(new Error('x'), { code: 'not a code\n' }), 'ERR_ROBOTS_FETCH_FAILED'],
    [new DOMException('aborted', 'AbortError'), 'ERR_ROBOTS_FETCH_FAILED'],
  ])('may throw %s', async (thrown, error) => {
    const transport = fetchTransport(() => Promise.reject(thrown));
    expect(await fetch(origin, { transport })).toMatchObject({ kind: 'unreachable', error });
  });

  it('may ignore its signal', async () => {
    const transport = fetchTransport(() => new Promise(() => {}));
    expect(await fetch(origin, { transport, deadlineMs: 50 })).toMatchObject({
      error: 'ERR_ROBOTS_DEADLINE',
    });
    const abort = new AbortController();
    const left = fetch(origin, { transport, signal: abort.signal });
    abort.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
  });
});
