import { describe, expect, it } from 'vitest';
import { type Pace, paceOf, type RequestPermit } from '../../../src/core/pacing/index.ts';
import { Pacer } from '../../../src/core/pacing/pacer.ts';
import { virtualClock } from '../../../src/extras/testing/index.ts';
import { booked, decisionFor } from './support.ts';
import { openedClient } from '../../support/opened.ts';

const [A, B, C, D] = ['a', 'b', 'c', 'd'].map((name) => `https://${name}.example`) as [
  string,
  string,
  string,
  string,
];
const pace: Pace = { ...paceOf({ defaultDelayMs: 0 }, 60_000) };

/** A pacer for this number of origins. */
function small(maxOrigins = 2) {
  const clock = virtualClock();
  const pacer = new Pacer({ clock, random: () => 0.5, maxOrigins });
  const take = async (origin: string): Promise<RequestPermit> => {
    return pacer.acquire(decisionFor(origin), pace, undefined);
  };
  const visit = async (origin: string): Promise<void> => (await take(origin)).done();
  const pausedMs = async (origin: string): Promise<number> =>
    (pacer.pauseOf(origin)?.until ?? clock.now()) - clock.now();
  return { clock, pacer, take, visit, pausedMs };
}

const NO_ROOM = { code: 'ERR_ROBOTS_DEFERRED', delayFrom: 'concurrency' };

describe('when there are more origins than queues', () => {
  it('one in a pause stays', async () => {
    const { clock, pacer, visit, pausedMs } = small();
    pacer.report(A, '60', clock.now());
    for (const origin of [B, C, D, B, C, D]) await visit(origin);
    expect(await pausedMs(A)).toBe(60_000);
  });

  it('one with a request under way stays: the next request waits for its end', async () => {
    const { take, visit, clock } = small();
    const first = await take(A);
    for (const origin of [B, C, D]) await visit(origin);
    let hasLeft = false;
    const second = take(A).then(() => (hasLeft = true));
    await clock.whenWaiting();
    await clock.advance(1_000);
    expect(hasLeft).toBe(false);
    first.done();
    await second;
  });

  it('one stays until the gap after its last request is over', async () => {
    const { pacer, visit } = small();
    const slow = { ...pace, defaultDelayMs: 5_000 };
    booked(await pacer.book(decisionFor(A), slow, undefined)).done();
    for (const origin of [B, C, D]) await visit(origin);
    expect(pacer.book(decisionFor(A), slow, undefined)).toMatchObject({ waitMs: 5_000 });
  });

  it('and none can be removed, requests to further origins are deferred until one can', async () => {
    const { clock, pacer, visit } = small();
    for (const origin of [A, B]) pacer.report(origin, '60', clock.now());
    await expect(visit(C)).rejects.toMatchObject(NO_ROOM);
    expect(pacer.book(decisionFor(C), { ...pace, defaultDelayMs: 700 }, undefined)).toMatchObject({
      status: 'deferred',
      delayMs: 700,
      waitMs: 700,
    });
    await clock.advance(60_000);
    await visit(C);
  });

  it('a deferral for want of a queue says so, and never that the next try may be at once', async () => {
    const { clock, pacer, visit } = small();
    for (const origin of [A, B]) pacer.report(origin, '60', clock.now());
    await expect(visit(C)).rejects.toMatchObject({
      delayFrom: 'concurrency',
      retryAt: clock.now() + 100,
      message: expect.stringMatching(/other origins .* `cache\.maxOrigins`/),
    });
    expect(pacer.book(decisionFor(C), pace, undefined)).toMatchObject({ waitMs: 100 });
    expect(() => pacer.acquire(decisionFor(A), { ...pace, maxDelayMs: 0 }, undefined)).toThrow(
      expect.objectContaining({ message: expect.stringContaining('Retry-After') }),
    );
  });

  it('one that remembers an incident goes after those that do not', async () => {
    const { clock, pacer, take, visit } = small();
    (await take(A)).done({ status: 429 });
    await clock.advance(60_000);
    for (const origin of [B, C, D]) await visit(origin);
    (await take(A)).done({ status: 429 });
    // The second incident.
    expect(pacer.pauseOf(A)?.until).toBe(clock.now() + 60_000);
  });

  it('one that remembers an incident goes all the same when all do', async () => {
    const { clock, take, visit } = small();
    for (const origin of [A, B]) (await take(origin)).done({ status: 429 });
    await clock.advance(60_000);
    await visit(C);
  });

  it('a late response pauses its origin, though its queue was removed', async () => {
    const { clock, take, visit, pausedMs } = small();
    const late = await take(A);
    // So long a place is held for an answer.
    await clock.advance(10 * 60_000);
    for (const origin of [B, C, D]) await visit(origin);
    late.done({ status: 503, headers: { 'retry-after': '90' } });
    expect(await pausedMs(A)).toBe(90_000);
  });
});

it('a client paces 1,000 origins, however few files it keeps', async () => {
  const clock = virtualClock();
  const transport = { fetch: async () => new Response('') };
  const { robots: client } = openedClient({ clock, transport, cache: { maxOrigins: 1 } });
  for (let index = 0; index < 1_000; index++) booked(await client.reserve(`https://${index}.example/`));
  expect(await client.reserve(A)).toMatchObject({ status: 'deferred', delayFrom: 'concurrency' });
});
