import type { RobotsClient } from '../../core/client/index.ts';
import { engineOf } from '../../core/client/engine.ts';
import type { Decision, Purpose } from '../../core/decision/index.ts';
import type { Agent } from '../../core/rules/agent-tokens.ts';

/**
 * The decision from memory, published: no promise for the many URLs of a known origin. With `purpose`, it has what the site
 * states about the use of the page. `undefined` when robots.txt must be fetched.
 */
export function decideFromMemory(
  client: RobotsClient,
  url: string,
  agent: Agent | undefined,
  purpose: Purpose | undefined,
): Decision | undefined {
  const engine = engineOf(client);
  const known = engine.decideFromMemory(url, agent, true);
  if (known === undefined || purpose === undefined) return known && engine.publishDecision(known);
  const usage = client.usageOf(known, purpose);
  engine.publishDecision(known, { usage });
  return { ...known, usage };
}
