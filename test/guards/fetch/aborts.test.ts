import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { guardFetch } from '../../../src/index.ts';
import { Moment } from '../../support/moment.ts';
import { answer } from '../../support/site.ts';
import { echo, never, realms, reportsTo, scriptedClient, site } from '../support.ts';

describe.each(realms)('aborts, guarded around %s', (_, fetch, OwnRequest) => {
  it('an abort reaches the second hop of a Request', async () => {
    const reached = new Moment();
    const closed = new Moment();
    const server = await site((request, response) => {
      if (request.url === '/a') return answer(response, { status: 302, headers: { location: '/b' } });
      request.socket.once('close', closed.now);
      reached.now();
    });
    const leaving = new AbortController();
    const request = new OwnRequest(server.url('/a'), { signal: leaving.signal });
    const pending = guardFetch(fetch, scriptedClient())(request);
    await reached.come;
    leaving.abort(new Error('gone'));
    await expect(pending).rejects.toThrow('gone');
    await closed.come;
  });

  it('an abort while robots.txt is fetched rejects with its reason', async () => {
    const asked = new Moment();
    const robots = scriptedClient('', { transport: { fetch: () => never(asked) } });
    const reports = reportsTo(robots);
    const server = await site(echo);
    const leaving = new AbortController();
    const pending = guardFetch(fetch, robots)(server.url('/'), { signal: leaving.signal });
    await asked.come;
    const reason = new Error('changed my mind');
    leaving.abort(reason);
    await expect(pending).rejects.toBe(reason);
    expect([server.requests.length, server.connections(), reports()]).toEqual([0, 0, []]);
  });

  it.each(['/first', '/second'])('an abort while %s is in flight closes its socket', async (hanging) => {
    const robots = scriptedClient();
    const reports = reportsTo(robots);
    const reached = new Moment();
    const closed = new Moment();
    const server = await site((request, response) => {
      if (request.url !== hanging) return answer(response, { status: 302, headers: { location: '/second' } });
      request.socket.once('close', closed.now);
      reached.now();
    });
    const leaving = new AbortController();
    const pending = guardFetch(fetch, robots)(server.url('/first'), { signal: leaving.signal });
    await reached.come;
    leaving.abort();
    await expect(pending).rejects.toMatchObject({ name: 'AbortError' });
    await closed.come;
    // Leaving says nothing of the site.
    expect(reports()).toEqual(hanging === '/first' ? [] : [[server.origin, true]]);
  });

  it('an abort while the body of the last answer is read closes its socket', async () => {
    const closed = new Moment();
    const server = await site((request, response) => {
      if (request.url === '/a') return answer(response, { status: 302, headers: { location: '/b' } });
      request.socket.once('close', closed.now);
      response.write('and so on');
    });
    const leaving = new AbortController();
    const response = await guardFetch(fetch, scriptedClient())(server.url('/a'), {
      signal: leaving.signal,
    });
    leaving.abort();
    await expect(response.text()).rejects.toMatchObject({ name: 'AbortError' });
    await closed.come;
  });

  it('many calls that wait under one signal share a listener, and all leave with it', async () => {
    const robots = scriptedClient('', { transport: { fetch: () => never() } });
    const leaving = new AbortController();
    const guarded = guardFetch(fetch, robots);
    const calls = Array.from({ length: 30 }, () =>
      guarded('https://example.com/', { signal: leaving.signal }),
    );
    // Node warns of more than ten.
    expect(getEventListeners(leaving.signal, 'abort')).toHaveLength(1);
    leaving.abort(new Error('gone'));
    const settled = await Promise.allSettled(calls);
    expect(
      settled.map((each) => each.status === 'rejected' && each.reason === leaving.signal.reason),
    ).not.toContain(false);
  });
});
