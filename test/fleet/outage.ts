import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis } from '../support/redis-server.ts';
import { type CompiledScript, startWorker, type Worker } from '../support/workers.ts';
import type { CrawlerOptions } from './crawler.ts';
import { type JudgedSite, startJudgedSite } from '../support/judged-site.ts';

/** An outage of Redis within a pause. */
export interface Outage {
  readonly name: string;
  /** Whether the pause begins while Redis is away. Only the process that learnt it knows it then. */
  readonly learntWhileAway: boolean;
  /** Whether Redis has its data when it comes back. */
  readonly keepsData: boolean;
  readonly status: 429 | 503;
}

export const OUTAGES: readonly Outage[] = [
  {
    name: 'a pause that was shared, lost with the data',
    learntWhileAway: false,
    keepsData: false,
    status: 429,
  },
  {
    name: 'a pause that one process learnt while Redis was away',
    learntWhileAway: true,
    keepsData: true,
    status: 503,
  },
];

export interface OutageReport {
  readonly requests: number;
  readonly leastGapMs: number;
  /** Requests of processes that could not know of the pause. */
  readonly unknowing: number;
  readonly pages: readonly number[];
  readonly violations: readonly string[];
}

const GAP_MS = 200;
/** How late a process may send on a busy machine. Less than a gap: all that go at once after a pause are too close. */
const LATE_MS = GAP_MS / 2;
const PAUSE_SECONDS = 10;
/** By then a store that is back is used again. */
const RECOVERY_MS = 5_000;
/** A process asks for pauses so long before a start at most; and a call to Redis takes its time. */
const SHARING_MS = 500;

/** Three processes crawl a site, and a fourth joins them late in the pause. */
export async function playOutage(script: CompiledScript, outage: Outage): Promise<OutageReport> {
  await using redis = await startRedis();
  await using site = await startJudgedSite();
  const crawlers = Array.from({ length: 4 }, (_, index) => {
    const options: CrawlerOptions = {
      name: `m${index}`,
      origin: site.origin,
      redis: redis.url,
      pacing: { defaultDelayMs: GAP_MS },
    };
    return startWorker(script, [JSON.stringify(options)]);
  });
  try {
    return await play(site, redis, crawlers, outage);
  } finally {
    for (const crawler of crawlers) await crawler.kill();
  }
}

async function play(
  site: JudgedSite,
  redis: Awaited<ReturnType<typeof startRedis>>,
  crawlers: readonly Worker[],
  { learntWhileAway, keepsData, status }: Outage,
): Promise<OutageReport> {
  for (const crawler of crawlers) await crawler.next();
  const [late, ...first] = [...crawlers].reverse();
  for (const crawler of first) crawler.send('start');
  await until(() => first.every((_, index) => site.log.some(({ member }) => member === `m${index}`)));
  await sleep(500);
  const warmFrom = site.now();
  if (!learntWhileAway) {
    await pause(site, status);
    await sleep(3 * SHARING_MS);
  }
  if (keepsData) await redis.command('SAVE');
  await redis.kill();
  const awayFrom = site.now();
  if (learntWhileAway) await pause(site, status);
  await sleep(1_500);
  await redis.restart();
  const knownAt = site.now() + RECOVERY_MS;
  const asked = site.pauses[0]!;
  await sleep(Math.max(0, knownAt - site.now()));
  late?.send('start');
  await sleep(Math.max(0, asked.until - site.now()));
  const goesOnAt = site.now();
  // All go on, the one that joined, too.
  const pages = (): number[] =>
    crawlers.map(
      (_, index) => site.log.filter(({ member, at }) => member === `m${index}` && at > goesOnAt - 50).length,
    );
  await until(() => pages().every((count) => count > 0));
  const before = site.judgeGaps(GAP_MS, warmFrom, awayFrom, { lateMs: LATE_MS });
  const after = site.judgeGaps(GAP_MS, Math.max(knownAt, asked.from), site.now(), {
    lateMs: LATE_MS,
    resumedAt: Math.max(knownAt, asked.until),
  });
  // Timers of Node may be early by a millisecond.
  const end = asked.until - 50;
  const own = site.between(asked.from, end, asked.member);
  const all = site.between(asked.from, end);
  const knowing = [...site.between(asked.from + SHARING_MS, awayFrom), ...site.between(knownAt, end)];
  return {
    requests: site.log.length,
    leastGapMs: Math.min(before.leastGapMs, after.leastGapMs),
    unknowing: all.length - own.length - knowing.length,
    pages: pages(),
    violations: [
      ...own.map(
        ({ path, at }) => `${path} ${(at - asked.from).toFixed(0)} ms into the pause of its process`,
      ),
      ...knowing.map(({ path, at }) => `${path} ${(at - asked.from).toFixed(0)} ms into the pause`),
      ...before.tooClose,
      ...after.tooClose,
    ],
  };
}

/** Asks for a pause in the next response. */
async function pause(site: JudgedSite, status: 429 | 503): Promise<void> {
  site.pauseNext(PAUSE_SECONDS, status);
  await until(() => site.pauses.length > 0);
}

async function until(holds: () => boolean): Promise<void> {
  for (let left = 3_000; !holds(); left--) {
    if (left === 0) throw new Error('Expected the crawl to go on');
    await sleep(10);
  }
}
