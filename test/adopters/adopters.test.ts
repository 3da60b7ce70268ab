import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { describeWith } from '../support/installed.ts';
import { openedSite } from '../support/opened.ts';
import { startRedis } from '../support/redis-server.ts';
import { answer } from '../support/site.ts';
import { closeRobots, isDisallowedByRobots, setRobotsConfig } from './browsertrix.ts';
import { logger } from './browsertrix/logger.ts';
import { closeProxies, proxied } from './browsertrix/proxy.ts';

describeWith('redis-server')('browsertrix-crawler', () => {
  it('shares robots.txt over Redis, asks by the proxy of each host, and takes a 503 for no permission', async () => {
    await using server = await startRedis();
    const redis = new Redis(server.port);
    const site = await openedSite({ '/robots.txt': { body: 'User-agent: bot\nDisallow: /private' } });
    const failing = await openedSite((_, response) => answer(response, { status: 503 }));
    for (const round of [1, 2]) {
      setRobotsConfig({ 'User-Agent': 'Bot/1.0' }, { redis });
      expect(await isDisallowedByRobots(site.url('/private'), { round }, 'bot')).toBe(true);
      expect(await isDisallowedByRobots(site.url('/page'), { round }, 'bot')).toBe(false);
      expect(await isDisallowedByRobots(failing.url('/page'), { round }, 'bot')).toBe(true);
      await closeRobots();
    }
    expect([site.requests.length, failing.requests.length]).toEqual([1, 1]);
    expect(proxied).toContain(site.url('/robots.txt'));
    expect(logger.warnings[0]?.data['url']).toBe(failing.url('/robots.txt'));
    redis.disconnect();
    await closeProxies();
  });
});
