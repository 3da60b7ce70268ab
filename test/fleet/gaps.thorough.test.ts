import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { describeWith } from '../support/installed.ts';
import { opened } from '../support/opened.ts';
import { startRedis } from '../support/redis-server.ts';
import { type CompiledScript, compileScript, startWorker, type Worker } from '../support/workers.ts';
import type { CrawlerOptions } from './crawler.ts';
import { type JudgedSite, startJudgedSite } from '../support/judged-site.ts';

describeWith('redis-server')('the gaps that the site sees', () => {
  let script: CompiledScript;
  let crawlers: Worker[] = [];

  beforeAll(() => {
    script = compileScript(new URL('crawler.ts', import.meta.url));
  });
  afterEach(async () => {
    for (const crawler of crawlers.splice(0)) await crawler.kill();
  });
  afterAll(() => script[Symbol.dispose]());

  async function start(all: readonly CrawlerOptions[]): Promise<void> {
    crawlers = all.map((options) => startWorker(script, [JSON.stringify(options)]));
    for (const crawler of crawlers) await crawler.next();
    for (const crawler of crawlers) crawler.send('start');
  }

  it.each([1, 3])(
    'are kept by a cold process that parses large files meanwhile, with `concurrency: %i`',
    async (concurrency) => {
      await using site = await startJudgedSite();
      const pacing = { defaultDelayMs: 100, concurrency };
      await start([{ name: 'm0', origin: site.origin, pacing, together: concurrency, parses: true }]);
      await eventually(() => expect(site.log.length).toBeGreaterThan(30));
      // On a busy machine the process may lose its processor between booking a request and sending it.
      expect(site.tooClose(100, { late: 0.85 })).toEqual([]);
    },
  );

  /** Two processes of a fleet crawl until each has sent so many requests. */
  async function crawlTogether(
    site: JudgedSite,
    members: readonly Omit<CrawlerOptions, 'origin' | 'redis'>[],
    count: number,
  ): Promise<void> {
    const redis = opened(await startRedis());
    await start(members.map((member) => ({ ...member, origin: site.origin, redis: redis.url })));
    await eventually(() => {
      for (const { name } of members)
        expect(site.log.filter(({ member }) => member === name).length).toBeGreaterThanOrEqual(count);
    });
  }

  it('are the longer of two neighbours in a fleet with `minDelayMs` 3,000 and 200, and neither starves', async () => {
    await using site = await startJudgedSite({ body: 'User-agent: *\nCrawl-delay: 0.1\n' });
    const member = (name: string, minDelayMs: number) => ({ name, pacing: { minDelayMs } });
    await crawlTogether(site, [member('slow', 3_000), member('fast', 200)], 2);
    const gapOf = (...neighbours: string[]): number => (neighbours.includes('slow') ? 3_000 : 200);
    expect(site.tooClose(gapOf)).toEqual([]);
  });

  it('are kept by one process that asks for `http:` and one that asks for `https:` URLs of a host', async () => {
    await using site = await startJudgedSite();
    const member = (name: string, secure: boolean) => ({ name, pacing: { defaultDelayMs: 400 }, secure });
    await crawlTogether(site, [member('plain', false), member('secure', true)], 5);
    expect(site.tooClose(400)).toEqual([]);
  });
});
