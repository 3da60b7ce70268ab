import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { describeWith } from '../support/installed.ts';
import { openedSite } from '../support/opened.ts';
import { startRedis } from '../support/redis-server.ts';
import { answer } from '../support/site.ts';
import { closeRobots, isDisallowedByRobots, setRobotsConfig } from './browsertrix.ts';
import { logger } from './browsertrix/logger.ts';
import { closeProxies, proxied } from './browsertrix/proxy.ts';
import { isPathAllowed, mergeRobotsTxtConfig, parseRobotsTxt } from './unlighthouse.ts';

describe('unlighthouse', () => {
  const configFor = (text: string, agent?: string): Parameters<typeof mergeRobotsTxtConfig>[0] => {
    const config = {
      scanner: {},
      ...(agent === undefined ? {} : { lighthouseOptions: { emulatedUserAgent: agent } }),
    };
    mergeRobotsTxtConfig(config, parseRobotsTxt(text));
    return config;
  };

  it.each([
    ['a key in another case', 'User-Agent: *\nDisallow: /private', '/private/a', false],
    ['keys in lower case', 'user-agent: *\ndisallow: /private', '/private/a', false],
    ['a comment after a rule', 'User-agent: *\nDisallow: /private # not for bots', '/private/a', false],
    ['an escape in lower case', 'User-agent: *\nDisallow: /%3c', '/%3Cb', false],
    ['the longest rule', 'User-agent: *\nDisallow: /a\nAllow: /a/b$', '/a/b', true],
    ['an empty rule', 'User-agent: *\nDisallow:', '/', true],
  ])('reads %s', (_, text, path, allowed) => {
    expect(isPathAllowed(path, configFor(text))).toBe(allowed);
  });

  it('obeys the group that names its agent, and takes the sitemaps of the file', () => {
    const text =
      'User-agent: *\nDisallow: /\n\nUser-agent: lighthouse\nDisallow: /x\n\nSitemap: https://example.com/s.xml';
    const config = configFor(text, 'lighthouse/1.0');
    expect(['/a', '/x'].map((path) => isPathAllowed(path, config))).toEqual([true, false]);
    expect(config.scanner.sitemap).toEqual(['https://example.com/s.xml']);
  });
});

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
