/**
 * Takes the place of `src/util/robots.ts` in browsertrix-crawler 2f9a57d3. Its callers stay as they are, but for one: where the
 * crawler ends, `await closeRobots()`. The cache of bodies in `state.ts` is no longer used. A robots.txt that cannot be
 * fetched, or answers 5xx or 429, no longer allows every page of its site.
 */
import { RobotsClient } from 'canfetch';
import { redisStore } from 'canfetch/redis';
import { logger, type LogDetails } from './browsertrix/logger.ts';
import { getProxyDispatcher } from './browsertrix/proxy.ts';
import type { RedisCrawlState } from './browsertrix/state.ts';

let robots: RobotsClient | undefined;

export function setRobotsConfig(headers: Record<string, string>, state: RedisCrawlState): void {
  robots = new RobotsClient({
    agent: headers['User-Agent'] ?? 'Browsertrix/1.x',
    headersForRobots: () => headers,
    dispatcher: ({ href }) => getProxyDispatcher(href),
    store: redisStore(state.redis),
  });
}

export async function isDisallowedByRobots(
  url: string,
  logDetails: LogDetails,
  robotsAgent: string,
): Promise<boolean> {
  if (robots === undefined) throw new Error('Expected setRobotsConfig to be called first');
  const { allowed, reason, robots: source } = await robots.check(url, robotsAgent);
  if (reason === 'unreachable')
    logger.warn('Failed to fetch robots.txt', { url: source.url, ...logDetails }, 'robots');
  return !allowed;
}

export async function closeRobots(): Promise<void> {
  await robots?.close();
}
