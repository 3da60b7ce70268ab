import { describe, expect, it } from 'vitest';
import { guardFetch, retryLater, RobotsClient } from '../../src/index.ts';
import { virtualClock } from '../../src/extras/testing/index.ts';
import { A, closing, noting } from '../core/pacing/support.ts';

/** A client whose robots.txt is answered by these statuses, the last of them again and again. */
function crawler(...statuses: number[]) {
  const clock = virtualClock({ autoAdvance: true });
  let asked = 0;
  const transport = {
    fetch: async () => {
      const status = statuses[Math.min(asked++, statuses.length - 1)]!;
      return new Response(status === 200 ? 'User-agent: *\nDisallow: /private\n' : null, { status });
    },
  };
  const client = new RobotsClient({ agent: 'ExampleBot', clock, random: () => 0, transport });
  closing(client);
  const { fetch, calls } = noting(clock);
  return { clock, client, fetch, calls, attempts: () => asked };
}

describe('retryLater', () => {
  it('comes back at `retryAt`, and asks no more often: a 503 at the start costs no page', async () => {
    const { clock, client, fetch, calls, attempts } = crawler(503, 503, 200);
    const guarded = guardFetch(fetch, client);
    const pages = [1, 2, 3].map((page) => retryLater(() => guarded(`${A}/${page}`), { clock }));
    expect((await Promise.all(pages)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(attempts()).toBe(3);
    // After 30 s, then after 60 s.
    expect(calls.map(([, afterMs]) => afterMs)).toEqual([90_000, 90_000, 90_000]);
  });

  it('does so for deferred requests, and for refusals that are responses', async () => {
    const { clock, client, fetch, calls } = crawler(200);
    const pacing = { defaultDelayMs: 1_000, maxDelayMs: 0 };
    const guarded = guardFetch(fetch, client, { pacing, onDisallow: 'response' });
    const read = async (response: Response): Promise<number> => {
      await response.text();
      return response.status;
    };
    const pages = [1, 2, 3, 4].map((page) => retryLater(() => guarded(`${A}/${page}`), { clock }).then(read));
    expect(await Promise.all(pages)).toEqual([200, 200, 200, 200]);
    const times = calls.map(([, afterMs]) => afterMs);
    for (const [index, at] of times.entries())
      if (index > 0) expect(at - times[index - 1]!).toBeGreaterThanOrEqual(1_000);
    const failing = crawler(503);
    const refused = guardFetch(failing.fetch, failing.client, { onDisallow: 'response' });
    const options = { clock: failing.clock, maxRetries: 2 };
    expect((await retryLater(() => refused(`${A}/`), options)).status).toBe(503);
    expect(failing.attempts()).toBe(3);
  });

  it('does not try again what is disallowed, what fails otherwise, or what is too far away', async () => {
    const { clock, client, fetch, attempts } = crawler(200);
    let calls = 0;
    const count = async <Value>(work: Promise<Value>): Promise<Value> => (calls++, work);
    const guarded = guardFetch(fetch, client);
    const disallowed = retryLater(() => count(guarded(`${A}/private`)), { clock });
    await expect(disallowed).rejects.toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
    const broken = retryLater(() => count(Promise.reject(new TypeError('fetch failed'))), { clock });
    await expect(broken).rejects.toThrow('fetch failed');
    const failing = crawler(503);
    const far = guardFetch(failing.fetch, failing.client);
    const soon = { clock: failing.clock, maxWaitMs: 29_999 };
    await expect(retryLater(() => count(far(`${A}/`)), soon)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_UNREACHABLE',
      retryAt: failing.clock.now() + 30_000,
    });
    expect([calls, attempts()]).toEqual([3, 1]);
  });

  it('ends with its signal, and refuses options that are none', async () => {
    const clock = virtualClock();
    const { client, fetch } = crawler(503);
    const guarded = guardFetch(fetch, client);
    const leaving = new AbortController();
    const waiting = retryLater(() => guarded(`${A}/`), { clock, signal: leaving.signal });
    await clock.whenWaiting();
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    expect(clock.waiting).toBe(0);
    const options: object = { retries: 3 };
    await expect(retryLater(() => guarded(A), options)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
    });
  });
});
