import { describe, expect, it, onTestFinished } from 'vitest';
import { DAY, HOUR, MINUTE, SECOND, testClient } from '../../support/client.ts';

const URL = 'https://example.com/page';

/** A client whose sites answer robots.txt as told, and how often they were asked. */
function failing(answer: () => Response) {
  let requests = 0;
  const made = testClient({
    transport: {
      fetch: () => {
        requests++;
        return Promise.resolve(answer());
      },
    },
  });
  onTestFinished(() => made.client.close());
  return { ...made, requests: () => requests };
}

describe('a clock that is set back', () => {
  it.each([
    ['a second', SECOND],
    ['an hour', HOUR],
    ['a month', 30 * DAY],
  ])('by %s lets a failed origin wait for its own time, counted anew', async (_, backMs) => {
    const { client, clock, requests } = failing(() => new Response(null, { status: 503 }));
    const first = await client.check(URL);
    expect(first).toMatchObject({ reason: 'unreachable', retryAt: clock.now() + 30 * SECOND });
    clock.advance(10 * SECOND - backMs);
    // Had it been asked 10 seconds ago, it would wait for 20 more.
    const waitMs = backMs < 10 * SECOND ? 20 * SECOND + backMs : 30 * SECOND;
    expect(await client.check(URL)).toMatchObject({ allowed: false, retryAt: clock.now() + waitMs });
    expect(await client.policy(URL)).toMatchObject({ nextAttempt: { at: clock.now() + waitMs } });
    clock.advance(waitMs - 1);
    await client.check(URL);
    expect(requests()).toBe(1);
    clock.advance(1);
    await client.check(URL);
    expect(requests()).toBe(2);
  });

  it('lets a site have the pause that it asked for, and no more', async () => {
    const { client, clock, requests } = failing(
      () => new Response(null, { status: 503, headers: { 'retry-after': '600' } }),
    );
    await client.check(URL);
    clock.advance(-HOUR);
    expect(await client.check(URL)).toMatchObject({ retryAt: clock.now() + 10 * MINUTE });
    clock.advance(10 * MINUTE);
    await client.check(URL);
    expect(requests()).toBe(2);
  });

  it('opens no site: a failure lasts no longer by a clock that was ahead', async () => {
    const { client, clock } = failing(() => new Response(null, { status: 503 }));
    await client.check(URL);
    clock.advance(31 * DAY);
    expect(await client.check(URL)).toMatchObject({ allowed: true, reason: 'unreachable-expired' });
    clock.advance(HOUR - 31 * DAY);
    const retryAt = clock.now() + MINUTE;
    expect(await client.check(URL)).toMatchObject({ allowed: false, reason: 'unreachable', retryAt });
    clock.advance(MINUTE);
    expect(await client.check(URL)).toMatchObject({ allowed: false, reason: 'unreachable' });
  });

  it('opens no site: an answer that was stale before the failure stays so', async () => {
    let status = 404;
    const { client, clock } = failing(() => new Response(null, { status }));
    expect(await client.check(URL)).toMatchObject({ allowed: true, reason: 'unavailable' });
    clock.advance(2 * DAY);
    status = 503;
    expect(await client.check(URL)).toMatchObject({ allowed: false, reason: 'unreachable' });
    clock.advance(-DAY - HOUR);
    expect(await client.check(URL)).toMatchObject({ allowed: false, reason: 'unreachable' });
  });
});
