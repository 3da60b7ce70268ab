import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { guardFetch, RobotsClient, type RobotsStore } from '../../src/index.ts';
import { redisStore } from '../../src/stores/redis/redis.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite.ts';
import { describeWith } from '../support/installed.ts';
import { startJudgedSite } from '../support/judged-site.ts';
import { opened } from '../support/opened.ts';
import { startRedis } from '../support/redis-server.ts';
import { answer } from '../support/site.ts';

const DELAY_MS = 200;
/** When the others have learnt of a pause. A busy machine gets as much again. */
const KNOWN_MS = 300 * 2;

/** Stores of as many members, each with a connection of its own. */
const stores: Readonly<Record<string, (count: number) => Promise<RobotsStore[]>>> = {
  async Redis(count) {
    const { url } = opened(await startRedis());
    return Array.from({ length: count }, () => {
      const connection = new Redis(url).on('error', () => undefined);
      opened({ [Symbol.dispose]: () => connection.disconnect() });
      return redisStore(connection);
    });
  },
  async SQLite(count) {
    const folder = mkdtempSync(join(tmpdir(), 'canfetch-pauses-'));
    opened({ [Symbol.dispose]: () => rmSync(folder, { recursive: true }) });
    const path = join(folder, 'robots.sqlite');
    return Promise.all(
      Array.from({ length: count }, async () => {
        const store = await sqliteStore({ path });
        opened({ [Symbol.asyncDispose]: () => store.close() });
        return store;
      }),
    );
  },
};

describeWith('redis-server')('a page that answers 429', () => {
  it.each([
    ['Redis', 8],
    ['Redis', 20],
    ['SQLite', 8],
    ['SQLite', 20],
  ])(
    'stops the whole fleet on %s, of %i members that have booked their slots',
    { timeout: 60_000 },
    async (kind, count) => {
      const site = opened(
        await startJudgedSite({ body: `User-agent: *\nCrawl-delay: ${DELAY_MS / 1_000}` }, (_, response) =>
          // Late enough that all others wait.
          setTimeout(() => answer(response, { status: 429, headers: { 'retry-after': '60' } }), DELAY_MS / 2),
        ),
      );
      const leaving = new AbortController();
      const all = (await stores[kind]!(count)).map(async (store, member) => {
        const robots = new RobotsClient({ agent: 'ExampleBot/1.0', store, storeDeadlineMs: 5_000 });
        opened(robots);
        await guardFetch(fetch, robots, { pacing: true })(`${site.origin}/m${member}/0`, {
          signal: leaving.signal,
        }).catch(() => undefined);
      });
      await new Promise((resolve) => setTimeout(resolve, DELAY_MS * (count + 3) + KNOWN_MS));
      leaving.abort();
      await Promise.all(all);
      const [first] = site.log;
      expect(site.log.filter(({ after }) => after > first!.over + KNOWN_MS)).toEqual([]);
      expect(site.log.length).toBeLessThan(4);
    },
  );
});
