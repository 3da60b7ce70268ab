import { describe, expect, it } from 'vitest';
import { type RequestPermit, type ReserveOptions } from '../../../src/index.ts';
import { virtualClock } from '../../../src/extras/testing/index.ts';
import { HOUR, SECOND } from '../../support/client.ts';
import { ScriptedStore } from '../../support/store.ts';
import { A, booked, laidDown } from './support.ts';
import { openedClient } from '../../support/opened.ts';

const EVERY_SECOND = 'User-agent: *\nCrawl-delay: 1\n';

/** Permits of a site that is to be asked every second. Several requests may be in flight. */
function permits() {
  const { client, clock } = laidDown({ [A]: EVERY_SECOND });
  const from = clock.now();
  const acquire = async (): Promise<RequestPermit> =>
    client.acquirePermit(await client.check(A), { concurrency: 5 });
  /** When the next one starts, in ms from the first call. */
  const next = async (): Promise<{ readonly permit: RequestPermit; readonly afterMs: number }> => {
    const permit = await acquire();
    return { permit, afterMs: clock.now() - from };
  };
  return { client, clock, next };
}

describe('a gap', () => {
  it('asks no clock to wait less than nothing, although time goes by while it reckons', async () => {
    let at = 0;
    const waitsMs: number[] = [];
    const sleep = async (ms: number): Promise<void> => {
      waitsMs.push(ms);
      at += ms;
    };
    const clock = { now: () => (at += 3), sleep };
    const { robots: client } = openedClient({ clock, overrides: { [A]: { text: '' } } });
    for (let request = 0; request < 20; request++) {
      const permit = await client.acquirePermit(await client.check(A), { defaultDelayMs: request });
      permit.done();
    }
    expect(waitsMs.length).toBeGreaterThan(0);
    expect(Math.min(...waitsMs)).toBeGreaterThanOrEqual(0);
  });

  it('counts from when the request is handed to the library', async () => {
    const { clock, next } = permits();
    (await next()).permit.responded({ status: 200 });
    await clock.advance(SECOND);
    const second = await next();
    // The library does something of its own before it sends.
    await clock.advance(300);
    second.permit.sent();
    const third = next();
    await clock.whenWaiting();
    await clock.advance(SECOND);
    expect((await third).afterMs).toBe(2_300);
  });

  it('counts from the request that was sent last, though its permit is the older one', async () => {
    const { clock, next } = permits();
    (await next()).permit.responded({ status: 200 });
    await clock.advance(SECOND);
    const second = await next();
    await clock.advance(SECOND);
    const third = await next();
    third.permit.sent();
    await clock.advance(400);
    second.permit.sent();
    const fourth = next();
    await clock.whenWaiting();
    await clock.advance(SECOND);
    expect((await fourth).afterMs).toBe(3_400);
  });

  it('counts from the response header of the first request, which finds the library cold', async () => {
    const { clock, next } = permits();
    const first = await next();
    first.permit.sent();
    const second = next();
    await clock.whenWaiting();
    await clock.advance(1_700);
    first.permit.responded({ status: 200 });
    await clock.advance(SECOND);
    expect((await second).afterMs).toBe(2_700);
  });

  it('counts from the end of a first request that has no response', async () => {
    const { clock, next } = permits();
    const first = await next();
    const second = next();
    await clock.whenWaiting();
    await clock.advance(1_700);
    first.permit.done({ error: new Error('reset') });
    await clock.advance(SECOND);
    expect((await second).afterMs).toBe(2_700);
  });

  it('does so again after 5 s without a request, and not before', async () => {
    const { clock, next } = permits();
    (await next()).permit.responded({ status: 200 });
    await clock.advance(4_900);
    const warm = await next();
    const third = next();
    await clock.whenWaiting();
    await clock.advance(SECOND);
    expect((await third).afterMs).toBe(5_900);
    warm.permit.done({ status: 200 });
    await clock.advance(5_000);
    const cold = await next();
    const fifth = next();
    await clock.whenWaiting();
    await clock.advance(300);
    cold.permit.responded({ status: 200 });
    await clock.advance(SECOND);
    expect((await fifth).afterMs).toBe(12_200);
  });

  it('does not wait longer than 5 s for a header', async () => {
    const { clock, next } = permits();
    await next();
    const second = next();
    await clock.whenWaiting();
    await clock.advance(5 * SECOND);
    expect((await second).afterMs).toBe(5_000);
  });
});

describe('the first page of a site', () => {
  /** A program that lives for a minute. Resolves with the milliseconds to the start of each page it gets. */
  async function program(
    store: ScriptedStore | undefined,
    clock: ReturnType<typeof virtualClock>,
    options?: ReserveOptions,
  ) {
    const transport = { fetch: async () => new Response('User-agent: *\nCrawl-delay: 600\n') };
    const { robots: client } = openedClient({ clock, transport, ...(store && { store }) });
    const pages: number[] = [];
    for (let page = 0; page < 2; page++) {
      const tried = await client.reserve(`${A}/${page}`, undefined, { maxDelayMs: 60_000, ...options });
      if (tried.status === 'booked') {
        pages.push(tried.waitMs);
        await clock.advance(tried.waitMs);
        tried.done({ status: 200 });
      }
    }
    return pages;
  }

  it.each([
    ['alone', false],
    ['over a store', true],
  ])(
    'comes `defaultDelayMs` after robots.txt behind a longer delay: a page an hour for a program of a minute, %s',
    async (_, hasStore) => {
      const clock = virtualClock();
      const store = hasStore ? new ScriptedStore({ clock, reserves: true }) : undefined;
      expect(await program(store, clock)).toEqual([500]);
      await clock.advance(HOUR);
      // The store has robots.txt from an hour ago.
      expect(await program(store, clock)).toEqual([hasStore ? 0 : 500]);
    },
  );

  it('comes after a gap that is no longer than `defaultDelayMs`', async () => {
    const transport = { fetch: async () => new Response('User-agent: *\nCrawl-delay: 0.2\n') };
    const { robots: client } = openedClient({ clock: virtualClock(), transport });
    expect(booked(await client.reserve(A)).waitMs).toBe(200);
  });

  it('is deferred for the true cause', async () => {
    const clock = virtualClock();
    const transport = { fetch: async () => new Response('User-agent: *\nCrawl-delay: 600\n') };
    const { robots: client } = openedClient({ clock, transport });
    const deferred = {
      code: 'ERR_ROBOTS_DEFERRED',
      delayFrom: 'default-delay',
      causeMs: 500,
      retryAt: clock.now() + 500,
    };
    const acquire = async () => client.acquirePermit(await client.check(A), { maxDelayMs: 0 });
    await expect(acquire()).rejects.toMatchObject(deferred);
    // The next one comes a `Crawl-delay` after that.
    await expect(acquire()).rejects.toMatchObject({ delayFrom: 'crawl-delay', causeMs: 600_000 });
  });
});
