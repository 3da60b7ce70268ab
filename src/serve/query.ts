import { agentTokens } from '../rules/agent-tokens.ts';
import { quote } from '../base/index.ts';
import { Problem } from './problem.ts';

/** Agents that one request may name: each costs a pass over the file. */
export const MAX_AGENTS = 20;

/**
 * @throws Problem for a parameter that nobody reads: a misspelt `agent` would be answered for somebody else.
 */
export function onlyKnown(query: URLSearchParams, names: readonly string[]): void {
  for (const name of query.keys()) {
    if (names.includes(name)) continue;
    const known = names.length === 0 ? 'no parameters' : `the parameters ${names.join(', ')} only`;
    throw new Problem(400, 'ERR_ROBOTS_INVALID_REQUEST', `Expected ${known}, got ${quote(name)}`);
  }
}

/** @throws Problem unless the parameter is there, once. */
export function onlyOne(query: URLSearchParams, name: string, example: string): string {
  const [value, ...others] = query.getAll(name);
  if (value !== undefined && value !== '' && others.length === 0) return value;
  const got = others.length > 0 ? `${others.length + 1} of them` : 'none';
  throw new Problem(
    400,
    'ERR_ROBOTS_INVALID_REQUEST',
    `Expected one parameter \`${name}\`, got ${got}; write ?${name}=${example}`,
  );
}

/**
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for one without product token; Problem for too many.
 */
export function readAgents(agents: readonly string[]): readonly string[] {
  if (agents.length > MAX_AGENTS) {
    throw new Problem(
      400,
      'ERR_ROBOTS_INVALID_REQUEST',
      `Expected at most ${MAX_AGENTS} agents, got ${agents.length}`,
    );
  }
  if (agents.length > 0) agentTokens(agents);
  return agents;
}

/**
 * The value of the parameter `name` in a query that holds nothing else, without a look at every octet of it; `undefined`
 * for all other queries, and for those that only `URLSearchParams` reads.
 */
export function soleParameter(search: string, name: string): string | undefined {
  if (!search.startsWith(name) || search[name.length] !== '=' || /[&+]/.test(search)) return undefined;
  try {
    return decodeURIComponent(search.slice(name.length + 1)) || undefined;
  } catch {
    return undefined;
  }
}
