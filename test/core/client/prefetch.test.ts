import { describe, expect, it } from 'vitest';
import { RobotsClient } from '../../../src/index.ts';
import { DistinctOrigins } from '../../../src/core/url/index.ts';

it('a prefetch keeps the first thousand invalid URLs, and counts all', async () => {
  await using client = new RobotsClient();
  const { invalid, invalidCount } = await client.prefetch(Array.from({ length: 1_500 }, (_, n) => `no ${n}`));
  expect([invalid.length, invalidCount, invalid[999]?.input]).toEqual([1_000, 1_500, 'no 999']);
});

it('an origin that is too long for any host is not remembered', () => {
  const origins = new DistinctOrigins();
  const long = `http://${'a'.repeat(1_000)}.example`;
  expect([origins.add(long), origins.add(long), origins.count]).toEqual([true, true, 2]);
});

describe('a prefetch with an async onProgress', () => {
  const source = { transport: { fetch: async () => new Response('') } };
  const urls = ['https://a.example/', 'https://b.example/', 'https://c.example/'];

  it('rejects with what it rejects with', async () => {
    await using client = new RobotsClient(source);
    const failure = new Error('no disk');
    const calls: number[] = [];
    const onProgress = async ({ done }: { readonly done: number }): Promise<void> => {
      calls.push(done);
      if (done === 2) throw failure;
    };
    await expect(client.prefetch(urls, { onProgress })).rejects.toBe(failure);
    expect(calls).toEqual([1, 2]);
  });

  it.each<[string, (leave: () => void) => unknown]>([
    ['while it waits', setImmediate],
    ['when it aborts that itself', (leave) => leave()],
  ])('ends with its signal %s', async (_, soon) => {
    await using client = new RobotsClient(source);
    const leaving = new AbortController();
    const reason = new Error('enough');
    const onProgress = async (): Promise<void> => {
      soon(() => leaving.abort(reason));
      await new Promise(() => undefined);
    };
    await expect(client.prefetch(urls, { onProgress, signal: leaving.signal })).rejects.toBe(reason);
  });
});
