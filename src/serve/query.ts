import { agentTokens } from '../rules/agent-tokens.ts';
import { quote } from '../base/index.ts';
import { isPurpose, type Purpose, PURPOSES } from '../decision/index.ts';
import { Problem } from './problem.ts';

/** Maximum number of agents per request, because each one matches all rules of the file. */
export const MAX_AGENTS = 100;

/**
 * @throws Problem for an unknown parameter: a misspelt `agent` would otherwise give the verdict for another agent.
 */
export function onlyKnown(query: URLSearchParams, names: readonly string[]): void {
  for (const name of query.keys()) {
    if (names.includes(name)) continue;
    const known = names.length === 0 ? 'no parameters' : `the parameters ${names.join(', ')} only`;
    throw new Problem(400, 'ERR_ROBOTS_INVALID_REQUEST', `Expected ${known}, got ${quote(name)}`);
  }
}

/** @throws Problem unless the query has the parameter exactly once. */
export function onlyOne(query: URLSearchParams, name: string, example: string): string {
  const [value, ...others] = query.getAll(name);
  if (value !== undefined && value !== '' && others.length === 0) return value;
  const got = others.length > 0 ? `${others.length + 1}` : 'none';
  throw new Problem(
    400,
    'ERR_ROBOTS_INVALID_REQUEST',
    `Expected one parameter \`${name}\`, got ${got}; write ?${name}=${example}`,
  );
}

/**
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for an agent without a product token.
 * @throws Problem for more than {@link MAX_AGENTS} agents.
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

/** @throws Problem when the query has several purposes, or an unknown one. */
export function readPurpose(query: URLSearchParams): Purpose | undefined {
  return query.has('purpose') ? asPurpose(onlyOne(query, 'purpose', 'train-ai')) : undefined;
}

/** @throws Problem when `value` is no purpose. */
export function asPurpose(value: unknown): Purpose {
  if (isPurpose(value)) return value;
  throw new Problem(
    400,
    'ERR_ROBOTS_INVALID_REQUEST',
    `Expected \`purpose\` to be one of ${PURPOSES.join(', ')}, got ${quote(value)}`,
  );
}

/**
 * Reads the parameter `name` from a query that has no other parameter, faster than `URLSearchParams` does. Returns
 * `undefined` for every other query, and when only `URLSearchParams` can decode the value.
 */
export function soleParameter(search: string, name: string): string | undefined {
  if (!search.startsWith(name) || search[name.length] !== '=' || /[&+]/.test(search)) return undefined;
  try {
    return decodeURIComponent(search.slice(name.length + 1)) || undefined;
  } catch {
    return undefined;
  }
}
