import { DEFAULT_AGENT } from '../base/index.ts';
import type { Agent } from '../rules/agent-tokens.ts';
import type { CheckOptions } from './types.ts';
import { RobotsClient } from './robots-client.ts';

let shared: RobotsClient | undefined;

/**
 * Whether `agent` may fetch `url`, by one client with the defaults that all callers share. For anything more,
 * make a {@link RobotsClient} of your own.
 *
 * @throws the same errors as {@link RobotsClient.canFetch}.
 *
 * @example
 * ```ts
 * import { canFetch } from 'canfetch';
 *
 * await canFetch('https://example.com/page', 'ExampleBot');
 * ```
 */
export function canFetch(url: string | URL, agent: Agent, options?: CheckOptions): Promise<boolean> {
  // Each question names its agent.
  shared ??= new RobotsClient({ agent: DEFAULT_AGENT });
  return shared.canFetch(url, agent, options);
}
