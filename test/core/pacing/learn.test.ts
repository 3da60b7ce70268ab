import { describe, expect, it } from 'vitest';
import type { RobotsClient } from '../../../src/index.ts';
import { MINUTE, SECOND } from '../../support/client.ts';
import { A, booked, laidDown } from './support.ts';

const gapMs = async (client: RobotsClient): Promise<number | undefined> =>
  (await client.policy(A)).pacing?.gapMs;

/** A page that answers so, and the pause after it. */
async function page(
  { client, clock }: ReturnType<typeof laidDown>,
  status: number,
  options: object = { learn: true, backOff: { firstMs: SECOND, maxMs: SECOND } },
): Promise<void> {
  const booking = booked(await client.reserve(A, undefined, options));
  await clock.advance(booking.waitMs);
  booking.done({ status });
  if (status !== 200) await clock.advance(1_100);
}

describe('`learn`', () => {
  it('doubles the gap after each "not now"', async () => {
    const site = laidDown({ [A]: '' });
    await page(site, 503);
    expect(await gapMs(site.client)).toBe(1_000);
    await page(site, 429);
    expect(await gapMs(site.client)).toBe(2_000);
    await page(site, 200);
    booked(await site.client.reserve(A)).done();
    await site.clock.advance(2_000);
    const next = await site.client.reserve(A, undefined, { maxDelayMs: 0 });
    expect(next).toMatchObject({ status: 'deferred', waitMs: 2_000, delayFrom: 'back-off' });
  });

  it('is off by default', async () => {
    const site = laidDown({ [A]: '' });
    await page(site, 503, {});
    expect(await gapMs(site.client)).toBe(500);
  });

  it('counts a "not now" once for all requests that were in flight', async () => {
    const { client, clock } = laidDown({ [A]: 'User-agent: *\nCrawl-delay: 0.3' });
    const decision = await client.check(A);
    const options = { learn: true, concurrency: 3 };
    const first = await client.acquirePermit(decision, options);
    const ahead = booked(await client.reserve(A, undefined, options));
    await clock.advance(300);
    first.done({ status: 503 });
    ahead.done({ status: 503 });
    expect(await gapMs(client)).toBe(600);
  });

  it('goes up to `maxDelayMs`, and leaves a longer Crawl-delay alone', async () => {
    const short = laidDown({ [A]: '' });
    for (let count = 0; count < 4; count++)
      await page(short, 503, { learn: true, maxDelayMs: 1_500, backOff: { firstMs: 1_000, maxMs: 1_000 } });
    expect(await gapMs(short.client)).toBe(1_500);
    const long = laidDown({ [A]: 'User-agent: *\nCrawl-delay: 9' });
    await page(long, 503, { learn: true, maxDelayMs: 9_000 });
    expect(await gapMs(long.client)).toBe(9_000);
  });

  it('comes back by a tenth for each minute after the pause', async () => {
    const site = laidDown({ [A]: 'User-agent: *\nCrawl-delay: 0.7' });
    await page(site, 429, { learn: true, backOff: { firstMs: 5 * MINUTE, maxMs: 5 * MINUTE } });
    await site.clock.advance(4.5 * MINUTE - 1_100);
    // The pause is over; no minute has passed since.
    expect(await gapMs(site.client)).toBe(1_400);
    await site.clock.advance(MINUTE);
    expect(await gapMs(site.client)).toBe(1_260);
    await site.clock.advance(MINUTE);
    expect(await gapMs(site.client)).toBe(1_134);
    await site.clock.advance(60 * MINUTE);
    expect(await gapMs(site.client)).toBe(700);
  });

  it('has a site that bears one page a second, and gets four, refuse two of 20', async () => {
    const { client, clock } = laidDown({ [A]: '' });
    let lastAt = -Infinity;
    let refused = 0;
    for (let pages = 0; pages < 20;) {
      const booking = booked(await client.reserve(A, undefined, { learn: true, defaultDelayMs: 250 }));
      await clock.advance(booking.waitMs);
      const bears = clock.now() - lastAt >= SECOND;
      lastAt = clock.now();
      booking.done(bears ? { status: 200 } : { status: 429, headers: { 'retry-after': '1' } });
      if (bears) pages++;
      else refused++;
    }
    expect(refused).toBeLessThanOrEqual(2);
  });
});
