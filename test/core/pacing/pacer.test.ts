import { describe, expect, it, vi } from 'vitest';
import { guardFetch, RobotsClient } from '../../../src/index.ts';
import { fakeOrigin, virtualClock } from '../../../src/extras/testing/index.ts';
import { A, B, booked, closing, laidDown, noting, SLOW } from './support.ts';
import { opened } from '../../support/opened.ts';

describe('guardFetch with pacing', () => {
  it('a request that need not wait leaves synchronously', async () => {
    const { client, clock } = laidDown({ [A]: SLOW });
    const { fetch, calls } = noting(clock);
    const guarded = guardFetch(fetch, client, { pacing: true });
    await guarded(`${A}/1`);
    await clock.advance(2_500);
    const page = guarded(`${A}/2`);
    expect(calls).toHaveLength(2);
    await page;
  });

  it('each hop is a request to its own origin', async () => {
    const { client, clock } = laidDown({ [A]: SLOW, [B]: 'User-agent: *\nCrawl-delay: 7\n' });
    booked(await client.reserve(B)).done();
    const { fetch, calls } = noting(clock, (url) =>
      url === `${A}/` ? new Response(null, { status: 302, headers: { location: `${B}/` } }) : new Response(),
    );
    const all = guardFetch(fetch, client, { pacing: true })(`${A}/`);
    await clock.whenWaiting();
    await clock.advance(7_000);
    await all;
    expect(calls).toEqual([
      [`${A}/`, 0],
      [`${B}/`, 7_000],
    ]);
  });

  it('a request waits at most five minutes by default', async () => {
    const { client } = laidDown({ [A]: 'User-agent: *\nCrawl-delay: 301\n' });
    await client.reserve(A);
    const { fetch } = noting(virtualClock());
    await expect(guardFetch(fetch, client, { pacing: true })(A)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DEFERRED',
    });
  });

  it('an aborted wait rejects with its reason and gives the last slot back', async () => {
    const { client, clock } = laidDown({ [A]: SLOW });
    const { fetch, calls } = noting(clock);
    const guarded = guardFetch(fetch, client, { pacing: true });
    await guarded(`${A}/1`);
    const leaving = new AbortController();
    const left = guarded(`${A}/2`, { signal: leaving.signal });
    await clock.whenWaiting();
    leaving.abort(new Error('changed my mind'));
    await expect(left).rejects.toThrow('changed my mind');
    expect(clock.waiting).toBe(0);
    expect(booked(await client.reserve(A)).waitMs).toBe(2_500);
    expect(calls).toHaveLength(1);
  });

  it.each([429, 503])('waiting requests wait for the Retry-After of a %i as well', async (status) => {
    const { client, clock } = laidDown({ [A]: SLOW });
    const { fetch, calls } = noting(clock, (url) =>
      url === `${A}/1`
        ? new Response(null, { status, headers: { 'retry-after': '60' } })
        : new Response(null),
    );
    const guarded = guardFetch(fetch, client, { pacing: true });
    const all = Promise.all([1, 2, 3].map((page) => guarded(`${A}/${page}`)));
    await clock.whenWaiting();
    await clock.advance(70_000);
    await all;
    expect(calls.map(([, afterMs]) => afterMs)).toEqual([0, 60_000, 62_500]);
  });

  it('rules that changed during a long wait apply', async () => {
    const site = await fakeOrigin({
      robots: ['User-agent: *\nCrawl-delay: 90000\n', 'User-agent: *\nDisallow: /\n'],
    });
    const clock = virtualClock();
    const client = new RobotsClient({ agent: 'ExampleBot', clock, random: () => 0 });
    closing(site, client);
    const { fetch, calls } = noting(clock);
    const guarded = guardFetch(fetch, client, { pacing: { maxDelayMs: 100_000_000 } });
    const first = guarded(`${site.origin}/page`);
    await clock.whenWaiting();
    await clock.advance(500);
    await first;
    const late = guarded(`${site.origin}/page`);
    await clock.whenWaiting();
    await clock.advance(90_000_000);
    await expect(late).rejects.toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
    expect(calls).toHaveLength(1);
  });

  it('a dry run is paced, and reports a refusal once', async () => {
    const { client, clock } = laidDown({ [A]: SLOW });
    const { fetch, calls } = noting(clock);
    const received: string[] = [];
    const guarded = guardFetch(fetch, client, {
      mode: 'report',
      pacing: true,
      onRefusal: ({ url }) => received.push(url),
    });
    const all = Promise.all([guarded(`${A}/private/1`), guarded(`${A}/private/2`)]);
    await clock.whenWaiting();
    await clock.advance(2_500);
    await all;
    expect(received).toEqual([`${A}/private/1`, `${A}/private/2`]);
    expect(calls.map(([, afterMs]) => afterMs)).toEqual([0, 2_500]);
  });

  it('closing the client ends every wait', async () => {
    const { client, clock } = laidDown({ [A]: SLOW });
    const { fetch, calls } = noting(clock);
    const guarded = guardFetch(fetch, client, { pacing: true });
    await guarded(A);
    const waiting = guarded(A);
    await clock.whenWaiting();
    await client.close();
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
    expect(calls).toHaveLength(1);
  });

  it('waits by a timer of the system clock, and leaves none behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    try {
      const client = opened(new RobotsClient({ agent: 'ExampleBot', overrides: { [A]: { text: '' } } }));
      const { fetch, calls } = noting(virtualClock());
      const guarded = guardFetch(fetch, client, { pacing: { minDelayMs: 1_000 } });
      await (await guarded(A)).text();
      const second = guarded(A);
      await vi.advanceTimersByTimeAsync(999);
      expect(calls).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(1);
      await (await second).text();
      const leaving = new AbortController();
      const third = guarded(A, { signal: leaving.signal }).catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(1);
      expect(vi.getTimerCount()).toBe(1);
      leaving.abort(new Error('left'));
      expect(await third).toMatchObject({ message: 'left' });
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
