import { describe, expect, it } from 'vitest';
import type {
  CacheMessage,
  PolicyChangeMessage,
  RobotsClient,
  RobotsClientOptions,
} from '../../../src/index.ts';
import { START } from '../../support/client.ts';
import { Chance } from '../../support/random.ts';
import { listen } from '../../support/heard.ts';
import { openedClient } from '../../support/opened.ts';

const ORIGINS = 12;
const originOf = (number: number): string => `https://site-${number}.example`;
/** Every second site disallows everything. */
const isOpen = (origin: string): boolean => Number(/\d+/.exec(origin)?.[0]) % 2 === 0;

/** A client with a cache for few origins, whose sites all respond. It is closed at the end of the test. */
function crowded(options: RobotsClientOptions = {}): RobotsClient {
  const { robots: client } = openedClient({
    cache: { maxOrigins: 3 },
    transport: {
      fetch: (url) =>
        Promise.resolve(new Response(`User-agent: *\nDisallow: ${isOpen(url) ? '/private' : '/'}\n`)),
    },
    ...options,
  });
  return client;
}

/** Calls random methods of the client, but not while such a call runs. */
function reentrantCaller(robots: () => RobotsClient | undefined, seed: number): () => void {
  const chance = new Chance(seed);
  let isAsking = false;
  return () => {
    const client = robots();
    if (client === undefined || isAsking) return;
    isAsking = true;
    try {
      const url = `${originOf(chance.below(ORIGINS))}/private`;
      const what = chance.below(6);
      if (what === 0) client.peek(url);
      if (what === 1) client.permits(url);
      if (what === 2) client.report(url, { reachable: chance.happens(0.5) });
      if (what === 3) void client.check(url).catch(() => undefined);
      if (what === 4) void client.canFetch(url).catch(() => undefined);
      if (what === 5) void client.invalidate(url).catch(() => undefined);
    } finally {
      isAsking = false;
    }
  };
}

/** Asks many questions, and holds each answer to be about its own URL, by the rules of its own site. */
async function crawl(client: RobotsClient): Promise<void> {
  const chance = new Chance(5);
  for (let round = 0; round < 60; round++) {
    const origin = originOf(chance.below(ORIGINS));
    const url = `${origin}/page-${round}`;
    const permitted = client.permits(url);
    if (permitted !== undefined) expect([url, permitted]).toEqual([url, isOpen(origin)]);
    const peeked = client.peek(url);
    if (peeked !== undefined) expect(peeked).toMatchObject({ url, origin, allowed: isOpen(origin) });
    expect(await client.check(url)).toMatchObject({ url, origin, allowed: isOpen(origin) });
    expect(await client.canFetch(url)).toBe(isOpen(origin));
    expect(client.stats().origins).toBeLessThanOrEqual(3);
  }
}

describe('no question changes another that is asked while it is answered', () => {
  it.each(['canfetch:cache', 'canfetch:policy-change', 'canfetch:decision', 'canfetch:fetch'])(
    'a subscriber of %s',
    async (name) => {
      const client = crowded();
      listen(
        name,
        reentrantCaller(() => client, 7),
      );
      await crawl(client);
    },
  );

  it.each<[string, (call: () => void) => RobotsClientOptions]>([
    ['the clock', (call) => ({ clock: { now: () => (call(), START) } })],
    ['`random`', (call) => ({ random: () => (call(), 0.5) })],
    ['`headersForRobots`', (call) => ({ headersForRobots: () => (call(), {}) })],
    [
      'the store',
      (call) => {
        const values = new Map<string, string>();
        return {
          store: {
            get: (key) => (call(), values.get(key)),
            set: (key, value) => (call(), void values.set(key, value)),
            delete: (key) => (call(), void values.delete(key)),
          },
        };
      },
    ],
  ])('%s', async (_, options) => {
    let client: RobotsClient | undefined;
    client = crowded(options(reentrantCaller(() => client, 11)));
    await crawl(client);
  });
});

describe('events', () => {
  it('are published when what they tell of is done, in order', async () => {
    const client = crowded({ cache: { maxOrigins: 1 } });
    const heard: string[] = [];
    listen<PolicyChangeMessage>('canfetch:policy-change', ({ origin }) => {
      heard.push(`change ${origin}: ${client.stats().origins} known`);
    });
    listen<CacheMessage>('canfetch:cache', ({ origin, event }) => heard.push(`${event} ${origin}`));
    await client.check(`${originOf(0)}/`);
    await client.check(`${originOf(2)}/`);
    expect(heard).toEqual([
      'miss https://site-0.example',
      'change https://site-0.example: 1 known',
      'miss https://site-2.example',
      'evict https://site-0.example',
      'change https://site-2.example: 1 known',
    ]);
  });

  it('of a question that a subscriber asks come after those that wait', async () => {
    const client = crowded({ cache: { maxOrigins: 1 } });
    await client.check(`${originOf(0)}/`);
    const heard: string[] = [];
    let asked = false;
    listen<CacheMessage>('canfetch:cache', ({ origin, event }) => {
      heard.push(`${event} ${origin}`);
      if (event !== 'evict' || asked) return;
      asked = true;
      expect(client.peek(`${originOf(2)}/`)).toMatchObject({ allowed: true });
    });
    listen<PolicyChangeMessage>('canfetch:policy-change', ({ origin }) => heard.push(`change ${origin}`));
    await client.check(`${originOf(2)}/`);
    expect(heard).toEqual([
      'miss https://site-2.example',
      'evict https://site-0.example',
      'change https://site-2.example',
      'hit https://site-2.example',
    ]);
  });

  it('keep a signal about the site that the clock reports', async () => {
    let client: RobotsClient | undefined;
    let hasEnded = false;
    client = crowded({
      clock: {
        now: () => {
          // When the attempt has ended.
          if (hasEnded) {
            hasEnded = false;
            client?.report(originOf(0), { reachable: false });
          }
          return START;
        },
      },
      transport: {
        fetch: () => {
          hasEnded = true;
          return Promise.resolve(new Response(''));
        },
      },
    });
    expect(await client.policy(originOf(0))).toMatchObject({ state: 'rules', site: { reachable: false } });
  });
});
