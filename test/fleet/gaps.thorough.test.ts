import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { describeWith } from '../support/installed.ts';
import { startRedis } from '../support/redis-server.ts';
import { type CompiledScript, compileScript, startWorker, type Worker } from '../support/workers.ts';
import type { CrawlerOptions } from './crawler.ts';
import { startJudgedSite } from '../support/judged-site.ts';

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
      expect(site.tooClose(100, { lateMs: 100 })).toEqual([]);
    },
  );

  it('are the longer of two neighbours in a fleet with `minDelayMs` 3,000 and 200, and neither starves', async () => {
    await using redis = await startRedis();
    await using site = await startJudgedSite({ body: 'User-agent: *\nCrawl-delay: 0.1\n' });
    const member = (name: string, minDelayMs: number): CrawlerOptions => ({
      name,
      origin: site.origin,
      redis: redis.url,
      pacing: { minDelayMs },
    });
    await start([member('slow', 3_000), member('fast', 200)]);
    await eventually(() => {
      for (const name of ['slow', 'fast']) {
        expect(site.log.filter((each) => each.member === name).length).toBeGreaterThan(1);
      }
    });
    for (const [index, next] of site.log.entries()) {
      const before = site.log[index - 1];
      if (before === undefined) continue;
      const gapMs = before.member === 'slow' || next.member === 'slow' ? 3_000 : 200;
      // On a busy machine a process may lose its processor right before it sends a request.
      expect(next.at - before.after).toBeGreaterThan(gapMs / 2);
    }
  });

  it('are kept by one process that asks for `http:` and one that asks for `https:` URLs of a host', async () => {
    await using redis = await startRedis();
    await using site = await startJudgedSite();
    const member = (name: string, secure: boolean): CrawlerOptions => ({
      name,
      origin: site.origin,
      redis: redis.url,
      pacing: { defaultDelayMs: 400 },
      secure,
    });
    await start([member('plain', false), member('secure', true)]);
    await eventually(() => {
      for (const name of ['plain', 'secure']) {
        expect(site.log.filter((each) => each.member === name).length).toBeGreaterThan(4);
      }
    });
    for (const [index, next] of site.log.entries()) {
      const before = site.log[index - 1];
      if (before !== undefined) expect(next.at - before.after).toBeGreaterThan(200);
    }
  });
});
