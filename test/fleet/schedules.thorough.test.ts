/** Random courses of a fleet's day, in seconds: replies that are late, and processes that freeze, die and start. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/installed.ts';
import { type LoggedRequest, startJudgedSite } from '../support/judged-site.ts';
import { opened } from '../support/opened.ts';
import { Chance, SEED } from '../support/random.ts';
import { startRedis } from '../support/redis-server.ts';
import { answer } from '../support/site.ts';
import { openSqlite, quietEnv } from '../support/sqlite.ts';
import { type CompiledScript, compileScript, startWorker, type Worker } from '../support/workers.ts';
import type { CrawlerOptions } from './crawler.ts';

const GAP_MS = 500;
const MEMBERS = 4;
const FAULTS = 5;
const LATE_MS = 450;
const PAUSE_S = 2;
/** A process that froze, or lost its processor, between its last look and its request sends it when it goes on. Nobody can know. */
const NOBODYS_FAULT = 1;

type Place = Pick<CrawlerOptions, 'redis' | 'sqlite'>;

/** A Redis whose replies are late. */
async function lateRedis(chance: Chance): Promise<Place> {
  const { port } = opened(await startRedis());
  const server = createServer((client) => {
    const redis = connect(port, '127.0.0.1');
    let next = Promise.resolve();
    redis.on('data', (reply) => {
      const late = sleep(chance.below(LATE_MS));
      next = next.then(() => late).then(() => void client.write(reply));
    });
    client.pipe(redis);
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const)
      one.on('error', () => undefined).on('close', () => other.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  opened({ [Symbol.dispose]: () => void server.close() });
  return { redis: `redis://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A SQLite file that another program keeps locked half of the time. */
async function lockedSqlite(chance: Chance): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'canfetch-schedules-'));
  const path = join(folder, 'robots.sqlite');
  const database = openSqlite(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000');
  const ending = new AbortController();
  const locking = (async () => {
    while (!ending.signal.aborted) {
      database.exec('BEGIN IMMEDIATE');
      await sleep(chance.below(LATE_MS));
      database.exec('COMMIT');
      await sleep(chance.below(LATE_MS));
    }
    database.close();
  })();
  opened({
    async [Symbol.asyncDispose]() {
      ending.abort();
      await locking;
      rmSync(folder, { recursive: true });
    },
  });
  return { sqlite: path };
}

describeWith('redis-server')('random courses of a fleet', () => {
  let script: CompiledScript;
  beforeAll(() => {
    script = compileScript(new URL('crawler.ts', import.meta.url));
  });
  afterAll(() => script[Symbol.dispose]());

  it.each([
    ['Redis', lateRedis],
    ['SQLite', lockedSqlite],
  ] as const)(
    `keep the gap and the pauses, over %s (SEED=${SEED})`,
    { timeout: 90_000 },
    async (_, placeOf) => {
      const chance = new Chance(SEED);
      let busy: LoggedRequest | undefined;
      let isBusyNext = false;
      const site = opened(
        await startJudgedSite({ body: '' }, (_request, response) => {
          if (isBusyNext) busy = site.log.at(-1);
          const headers = isBusyNext ? { 'retry-after': String(PAUSE_S) } : {};
          answer(response, { status: isBusyNext ? 429 : 200, headers, body: 'a page' });
          isBusyNext = false;
        }),
      );
      const place = await placeOf(chance);
      let started = 0;
      const start = async (): Promise<{ name: string; worker: Worker }> => {
        const options = {
          name: `m${started++}`,
          origin: site.origin,
          pacing: { defaultDelayMs: GAP_MS },
          ...place,
        };
        const worker = startWorker(script, [JSON.stringify(options)], { env: quietEnv });
        opened({ [Symbol.asyncDispose]: () => worker.kill() });
        await worker.next();
        worker.send('start');
        return { name: options.name, worker };
      };
      const members = await Promise.all(Array.from({ length: MEMBERS }, start));
      const course: string[] = [];
      const tooSoon: string[] = [];

      const faults = {
        async freeze() {
          const { name, worker } = chance.pick(members);
          course.push(`${name} freezes`);
          await worker.freeze(200 + chance.below(2_500));
        },
        async kill() {
          const at = chance.below(members.length);
          course.push(`${members[at]!.name} dies`);
          await members[at]!.worker.kill();
          members[at] = await start();
        },
        async pause() {
          isBusyNext = true;
          await expect.poll(() => busy?.over, { timeout: 20_000 }).toBeLessThan(Infinity);
          const { over, path } = busy!;
          busy = undefined;
          course.push(`429 for ${path}`);
          await sleep(PAUSE_S * 1_000);
          // Who asked before the pause was written may learn so late that there was none.
          const known = over + LATE_MS + 600;
          tooSoon.push(
            ...site
              .between(known, over + PAUSE_S * 1_000 - 50)
              .map((each) => `${each.path} in the pause of ${path}`),
          );
        },
      };
      // Each happens in each run.
      const kinds = [
        ...chance.some(['freeze', 'kill', 'pause'] as const, 3),
        ...Array.from({ length: FAULTS - 3 }, () => chance.pick(['freeze', 'kill', 'pause'] as const)),
      ];
      for (const kind of kinds) {
        await sleep(GAP_MS + chance.below(2 * GAP_MS));
        await faults[kind]();
      }
      // On a busy machine a member may take seconds for a page.
      await expect.poll(() => site.log.length, { timeout: 30_000 }).toBeGreaterThan(FAULTS);

      for (const [index, next] of site.log.slice(1).entries()) {
        const before = site.log[index]!;
        const gapMs = next.at - before.after;
        // The first request of a process loads code and connects, and may leave that late.
        if (gapMs < GAP_MS / 2 - 50 && !before.path.endsWith('/0'))
          tooSoon.push(`${next.path} ${gapMs.toFixed(0)} ms after ${before.path}`);
      }
      expect(tooSoon.length, [`SEED=${SEED}`, ...course, ...tooSoon].join('\n')).toBeLessThanOrEqual(
        NOBODYS_FAULT,
      );
    },
  );
});
