import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { Redis as Valkey } from 'iovalkey';
import { createClient } from 'redis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RECORD_VERSION } from '../../src/core/store/record-codec.ts';
import type { RedisConnection } from '../../src/stores/redis/connection.ts';
import { redisStore } from '../../src/stores/redis/redis.ts';
import { RobotsClient, type StoreEvent } from '../../src/index.ts';
import { SECOND, VirtualClock } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { describeWith } from '../support/installed.ts';
import { opened } from '../support/opened.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { everyNameIsLocal, type Sites, startSites } from './sites.ts';

/** Where a store is waited for in vain; one that answers does so by then, however busy the machine. */
const SHORT_STORE_DEADLINE_MS = 500;
/** Where none is. */
const LONG_STORE_DEADLINE_MS = 10_000;
/** Two calls of the store and a fetch over loopback, on a machine that has much else to do. Without deadlines: never. */
const NO_QUESTION_LONGER_MS = 5_000;

interface Connection {
  readonly connection: RedisConnection;
  end(): void;
}

/** As a user does who wants a crawl to start whether or not the server is there. */
const clients: Readonly<Record<string, (url: string) => Connection>> = {
  ioredis: (url) => {
    const connection = new Redis(url).on('error', () => undefined);
    return { connection, end: () => connection.disconnect() };
  },
  iovalkey: (url) => {
    const connection = new Valkey(url).on('error', () => undefined);
    return { connection, end: () => connection.disconnect() };
  },
  'node-redis': (url) => {
    const connection = createClient({ url }).on('error', () => undefined);
    connection.connect().catch(() => undefined);
    return { connection, end: () => connection.destroy() };
  },
};

describeWith('redis-server')('a crawl whose Redis fails', () => {
  describe.each(Object.entries(clients))('over %s', (_, connect) => {
    let server: RedisServer;
    let sites: Sites;
    let clock: VirtualClock;
    beforeEach(async () => {
      server = await startRedis();
      sites = await startSites();
      clock = new VirtualClock();
    });

    afterEach(async () => {
      await sites?.[Symbol.asyncDispose]();
      await server?.stop();
    });

    interface Crawler {
      readonly robots: RobotsClient;
      /** Types of events, with the operations or calls they are about. */
      readonly received: Set<string>;
      /** Asks for two pages of the origin, and tells where the answers came from. */
      visit(number: number): Promise<string>;
    }

    /** @param storeDeadlineMs short where the store is to be waited for in vain */
    function startCrawler(storeDeadlineMs: number): Crawler {
      const { connection, end } = connect(server.url);
      const received = new Set<string>();
      const robots = new RobotsClient({
        agent: 'ExampleBot/1.0',
        store: redisStore(connection),
        storeDeadlineMs,
        onStoreEvent: (event) => received.add(inShort(event)),
        clock,
        lookup: everyNameIsLocal,
      });
      opened({ [Symbol.asyncDispose]: () => robots.close().then(end) });
      const visit = async (number: number): Promise<string> => {
        const startedAt = performance.now();
        const refused = await robots.check(sites.url(number, '/private'));
        const tookMs = performance.now() - startedAt;
        expect(refused).toMatchObject({ allowed: false, reason: 'rule' });
        expect(await robots.canFetch(sites.url(number, '/page'))).toBe(true);
        expect(tookMs).toBeLessThan(NO_QUESTION_LONGER_MS);
        return refused.robots.source;
      };
      return { robots, received, visit };
    }

    const keys = async (): Promise<string[]> => (await server.command('KEYS', '*:record:*}')) as string[];
    const isStored = async (number: number): Promise<boolean> => {
      const origin = new URL(sites.url(number, '/')).origin;
      return (await keys()).some((key) => key.endsWith(`:${origin}}`));
    };
    const stored = (number: number): Promise<void> =>
      eventually(async () => expect(await isStored(number)).toBe(true));

    /** What was known before goes on from memory, and what was not comes from the network, once each. */
    async function goesOn({ visit }: Crawler): Promise<void> {
      expect(await visit(1)).toBe('memory');
      for (const number of [2, 3, 4, 5]) expect(await visit(number)).toBe('network');
      for (const number of [1, 2, 3, 4, 5]) expect(await visit(number)).toBe('memory');
      expect([1, 2, 3, 4, 5].map((number) => sites.count(number))).toEqual([1, 1, 1, 1, 1]);
    }

    /** Questions about cold origins find out that the store is back, and their records are shared again. */
    async function isUsedAgain({ visit }: Crawler): Promise<void> {
      let next = 100;
      await eventually(async () => {
        clock.advance(5 * SECOND);
        await visit(next++);
        expect(await isStored(next - 1)).toBe(true);
      });
      const other = startCrawler(LONG_STORE_DEADLINE_MS);
      // Its connection is there when it is asked.
      const last = next - 1;
      await eventually(async () => expect(await other.visit(next++)).toBe('network'));
      expect(await other.visit(last)).toBe('store');
      expect(sites.count(last)).toBe(1);
    }

    /** A crawler that knows origin 1, and a store that does too. */
    async function warmCrawler(storeDeadlineMs: number): Promise<Crawler> {
      const crawler = startCrawler(storeDeadlineMs);
      await crawler.visit(1);
      await stored(1);
      return crawler;
    }

    it('down at the start', async () => {
      await server.kill();
      const crawler = startCrawler(SHORT_STORE_DEADLINE_MS);
      expect(await crawler.visit(1)).toBe('network');
      await goesOn(crawler);
      expect(crawler.received).toContain('suspended');
      await server.restart();
      await isUsedAgain(crawler);
    });

    it('killed midway', async () => {
      const crawler = await warmCrawler(SHORT_STORE_DEADLINE_MS);
      // With commands under way.
      const visits = Promise.all([6, 7, 8].map(crawler.visit));
      await server.kill();
      await visits;
      expect([6, 7, 8].map((number) => sites.count(number))).toEqual([1, 1, 1]);
      await goesOn(crawler);
      await server.restart();
      await isUsedAgain(crawler);
    });

    it.each<[string, number, breaks: () => unknown, events: string[], mend: () => unknown]>([
      ['restarted empty', SHORT_STORE_DEADLINE_MS, () => server.restart(), [], () => undefined],
      [
        'hanging',
        SHORT_STORE_DEADLINE_MS,
        () => server.pause(),
        ['timeout get', 'suspended'],
        () => server.resume(),
      ],
      [
        'out of memory',
        LONG_STORE_DEADLINE_MS,
        () => server.fill(),
        ['failed set'],
        () => server.command('CONFIG', 'SET', 'maxmemory', '0'),
      ],
      [
        'a replica that only reads',
        LONG_STORE_DEADLINE_MS,
        () => server.makeReplica(),
        ['failed set'],
        () => server.command('REPLICAOF', 'NO', 'ONE'),
      ],
    ])('%s', async (_name, storeDeadlineMs, breakServer, events, mend) => {
      const crawler = await warmCrawler(storeDeadlineMs);
      await breakServer();
      await goesOn(crawler);
      expect([...crawler.received]).toEqual(expect.arrayContaining(events));
      await mend();
      await isUsedAgain(crawler);
    });

    it('with junk for values', async () => {
      const first = await warmCrawler(LONG_STORE_DEADLINE_MS);
      for (const number of [2, 3, 4, 5]) {
        await first.visit(number);
        await stored(number);
      }
      const everything = 'User-agent: *\nAllow: /\n';
      const junk: ((key: string) => string[])[] = [
        (key) => ['SET', key, everything],
        (key) => [
          'SET',
          key,
          `t${JSON.stringify({ v: RECORD_VERSION, sum: 0, copy: { text: everything } })}`,
        ],
        (key) => ['SET', key, randomBytes(5_000).toString('latin1')],
        (key) => ['SET', key, ''],
      ];
      for (const [index, key] of (await keys()).sort().entries()) {
        const spoil = junk[index];
        if (spoil !== undefined) await server.command(...spoil(key));
        else {
          await server.command('DEL', key);
          await server.command('RPUSH', key, 'of another type');
        }
      }
      const crawler = startCrawler(LONG_STORE_DEADLINE_MS);
      for (const number of [1, 2, 3, 4, 5]) expect(await crawler.visit(number)).toBe('network');
      expect([1, 2, 3, 4, 5].map((number) => sites.count(number))).toEqual([2, 2, 2, 2, 2]);
      expect(crawler.received).toContain('rejected damaged');
      expect(crawler.received).toContain('failed get');
      // The keys were there all along: what says that the junk is gone is the end of the writes.
      await crawler.robots.close();
      const other = startCrawler(LONG_STORE_DEADLINE_MS);
      await eventually(async () => expect(await other.visit(100)).toBe('network'));
      const sources: string[] = [];
      for (const number of [1, 2, 3, 4, 5]) sources.push(await other.visit(number));
      expect({ sources, received: [...other.received] }).toEqual({
        sources: ['store', 'store', 'store', 'store', 'store'],
        received: [],
      });
    });
  });
});

function inShort(event: StoreEvent): string {
  if (event.type === 'rejected') return `rejected ${event.reason}`;
  return 'operation' in event ? `${event.type} ${event.operation}` : event.type;
}
