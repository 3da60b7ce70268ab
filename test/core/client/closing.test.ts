import { describe, expect, it, vi } from 'vitest';
import type { CacheMessage, FetchFunction, RobotsClientOptions, RobotsStore } from '../../../src/index.ts';
import { testClient } from '../../support/client.ts';
import { settled } from './store-support.ts';
import { listen } from '../../support/heard.ts';

const A = 'https://a.example/';
const B = 'https://b.example/';

/** A source that never yields, and whether it was closed. */
function silence() {
  const seen = { reads: 0, closed: 0 };
  const lines: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        seen.reads++;
        return new Promise<never>(() => undefined);
      },
      return: () => {
        seen.closed++;
        return new Promise<never>(() => undefined);
      },
    }),
  };
  return { lines, seen };
}

/** What ends every question of a closed client. */
const CLOSED = { code: 'ERR_ROBOTS_CLOSED' };

/** A client whose requests get no response. It has sent as many as `asked` shows. */
function unanswered(options: RobotsClientOptions = {}) {
  const asked: string[] = [];
  const fetch: FetchFunction = (url) => {
    asked.push(url);
    return new Promise<never>(() => undefined);
  };
  return { ...testClient({ ...options, transport: { fetch } }), asked };
}

/** A client whose sites allow everything, with a store of a fleet. `calls` has its requests and the calls of its store. */
function noted(options: RobotsClientOptions = {}) {
  const calls: string[] = [];
  const note =
    <Value>(name: string, value: Value) =>
    async (): Promise<Value> => {
      calls.push(name);
      return value;
    };
  const store: RobotsStore = {
    get: note('get', undefined),
    set: note('set', undefined),
    delete: note('delete', undefined),
    reserve: note('reserve', { waitMs: 0, pauseMs: 0 }),
    pause: note('pause', 0),
  };
  const fetch: FetchFunction = async (url) => {
    calls.push(url);
    return new Response('');
  };
  return { ...testClient({ ...options, store, transport: { fetch } }), calls };
}

describe('a closed client starts nothing', () => {
  it('for a policy that was asked for right before', async () => {
    const { client, calls } = noted();
    const pending = expect(client.policy(A)).rejects.toMatchObject(CLOSED);
    await client.close();
    await pending;
    expect(calls).toEqual([]);
    expect(client.stats()).toMatchObject({ origins: 0, attempts: 0 });
  });

  it.each(['policy', 'reserve', 'acquirePermit'] as const)(
    'for %s, called right before, that waits for the code of pacing only',
    async (method) => {
      const { client, calls } = noted({ overrides: { [A]: { text: 'User-agent: *\nCrawl-delay: 1\n' } } });
      const decision = await client.check(A);
      const pending = method === 'acquirePermit' ? client[method](decision) : client[method](A);
      const closed = expect(pending).rejects.toMatchObject(CLOSED);
      await client.close();
      await closed;
      expect(calls).toEqual([]);
    },
  );

  it('for a pause that was reported before the code of pacing was loaded', async () => {
    const { client, calls } = noted();
    client.report(A, { reachable: true, retryAfter: '60' });
    await client.close();
    await vi.dynamicImportSettled();
    await settled();
    expect(calls).toEqual([]);
  });

  it('for a question whose miss made a subscriber close it', async () => {
    const { client, calls } = noted();
    const closing: Promise<void>[] = [];
    listen<CacheMessage>('canfetch:cache', ({ event }) => {
      if (event === 'miss') closing.push(client.close());
    });
    await expect(client.check(A)).rejects.toMatchObject(CLOSED);
    await Promise.all(closing);
    expect([closing.length, calls]).toEqual([1, []]);
  });
});

describe('close after invalidate', () => {
  it('rejects the callers of a request in flight at once', async () => {
    const { client, asked } = unanswered();
    const pending = expect(client.check(A)).rejects.toMatchObject(CLOSED);
    await expect.poll(() => asked).toHaveLength(1);
    await client.invalidate(A);
    await client.close();
    await pending;
  });

  it('rejects the callers of a request that is queued', async () => {
    const { client, asked } = unanswered({ concurrency: 1 });
    const pending = [A, B].map((url) => expect(client.check(url)).rejects.toMatchObject(CLOSED));
    await expect.poll(() => asked).toHaveLength(1);
    await client.invalidate(B);
    await client.close();
    await Promise.all(pending);
  });
});

describe('prefetch of a source that never yields', () => {
  it('ends when the client is closed', async () => {
    const { client } = testClient();
    const { lines, seen } = silence();
    const pending = client.prefetch(lines);
    await expect.poll(() => seen.reads).toBe(1);
    await client.close();
    await expect(pending).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
    expect(seen).toEqual({ reads: 1, closed: 1 });
  });
});
