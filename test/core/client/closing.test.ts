import { describe, expect, it, onTestFinished } from 'vitest';
import { testClient } from '../../support/client.ts';

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

describe.each(['restore', 'prefetch'] as const)('%s of a source that never yields', (method) => {
  it('ends when the client is closed', async () => {
    const { client } = testClient();
    const { lines, seen } = silence();
    const pending = client[method](lines);
    await expect.poll(() => seen.reads).toBe(1);
    await client.close();
    await expect(pending).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
    expect(seen).toEqual({ reads: 1, closed: 1 });
  });

  it('ends with the reason of an aborted signal', async () => {
    const { client } = testClient();
    onTestFinished(() => client.close());
    const { lines, seen } = silence();
    const leaving = new AbortController();
    const pending = client[method](lines, { signal: leaving.signal });
    await expect.poll(() => seen.reads).toBe(1);
    leaving.abort(new Error('left'));
    await expect(pending).rejects.toThrow('left');
    expect(seen).toEqual({ reads: 1, closed: 1 });
  });
});
