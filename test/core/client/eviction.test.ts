import { expect, it, onTestFinished, vi } from 'vitest';
import type { RobotsClientOptions } from '../../../src/index.ts';
import { DAY, testClient, VirtualClock } from '../../support/client.ts';
import { ScriptedStore } from '../../support/store.ts';

const RULES = 'User-agent: *\nCrawl-delay: 60\nDisallow: /private\n';

/** A client with room for three origins, the requests for robots.txt, and the codes of warnings. */
function crowded(options: RobotsClientOptions = {}) {
  const asked: string[] = [];
  const fetch = async (url: string): Promise<Response> => {
    asked.push(new URL(url).host);
    return new Response(RULES);
  };
  const warned: string[] = [];
  const warning = vi
    .spyOn(process, 'emitWarning')
    .mockImplementation((message, detail) => void warned.push(`${Object(detail).code}: ${message}`));
  onTestFinished(() => warning.mockRestore());
  const { client, clock } = testClient({ transport: { fetch }, cache: { maxOrigins: 3 }, ...options });
  return { client, clock, asked, warned };
}

const inTurn = async (ask: (url: string) => Promise<unknown>, hosts: string): Promise<void> => {
  for (const host of hosts) await ask(`https://${host}.example/page`);
};

it('an origin for which pages wait is not evicted, and is when they have gone', async () => {
  const { client, asked } = crowded();
  const stop = new AbortController();
  const page = 'https://a.example/page';
  const waiting = client.acquirePermit(await client.check(page), { signal: stop.signal });
  await expect.poll(() => client.stats().pacing.waiting).toBe(1);
  await inTurn((url) => client.canFetch(url), 'bcdefg');
  expect(client.peek(page)).toMatchObject({ allowed: true });
  expect(client.stats().origins).toBe(3);
  stop.abort(new Error('left'));
  await expect(waiting).rejects.toThrow('left');
  await inTurn((url) => client.canFetch(url), 'hij');
  expect(client.peek(page)).toBeUndefined();
  expect(asked).toHaveLength(10);
});

it('the process is warned once when memory does not hold the origins of a rotation', async () => {
  // With a store nothing is fetched again, and what has expired is fetched again anyway.
  const clock = new VirtualClock();
  const stored = crowded({ clock, store: new ScriptedStore({ clock }) });
  for (let round = 0; round < 2; round++) await inTurn((url) => stored.client.canFetch(url), 'abcde');
  expect(stored.asked).toHaveLength(5);
  const alone = crowded();
  await inTurn((url) => alone.client.canFetch(url), 'abcde');
  alone.clock.advance(DAY);
  await inTurn((url) => alone.client.canFetch(url), 'abcde');
  expect(alone.warned).toEqual([]);
  for (let round = 0; round < 2; round++) await inTurn((url) => alone.client.canFetch(url), 'abcde');
  expect(alone.warned).toEqual([
    'CANFETCH_CACHE_FULL: https://a.example/robots.txt is fetched again although it was fresh, because memory is full ' +
      'of other origins: raise `cache: { maxOrigins, maxBytes }`, or give the client a `store`, such as that of canfetch/sqlite',
  ]);
  expect(alone.asked).toHaveLength(20);
});
