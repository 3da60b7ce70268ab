import type { z } from 'zod';
import { quote } from '../../core/base/index.ts';
import { isPurpose, type Purpose, PURPOSES } from '../../core/decision/index.ts';
import { agentTokens } from '../../core/decision/agent-tokens.ts';
import { inputSentence } from '../answers/text/reasons.ts';
import { invalid } from './reply.ts';

/** Maximum number of agents per request, because each one matches all rules of the file. */
export const MAX_AGENTS = 100;

/**
 * @throws Problem for an unknown parameter: a misspelt `agent` would otherwise give the verdict for another agent.
 */
export function onlyKnown(query: URLSearchParams, names: readonly string[]): void {
  for (const name of query.keys()) {
    if (names.includes(name)) continue;
    const known = names.length === 0 ? 'no parameters' : `the parameters ${names.join(', ')} only`;
    throw invalid(`Expected ${known}, got ${quote(name)}`);
  }
}

/** @throws Problem unless the query has the parameter exactly once. */
export function onlyOne(query: URLSearchParams, name: string, example: string): string {
  const [value, ...others] = query.getAll(name);
  if (value !== undefined && value !== '' && others.length === 0) return value;
  const got = others.length > 0 ? `${others.length + 1}` : 'none';
  throw invalid(`Expected one parameter \`${name}\`, got ${got}; write ?${name}=${example}`);
}

/**
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for an agent without a product token.
 * @throws Problem for more than {@link MAX_AGENTS} agents.
 */
export function readAgents(agents: readonly string[]): readonly string[] {
  if (agents.length > MAX_AGENTS)
    throw invalid(`Expected at most ${MAX_AGENTS} agents, got ${agents.length}`);
  if (agents.length > 0) agentTokens(agents);
  return agents;
}

/** @throws Problem when the query has several purposes, or an unknown one. */
export function readPurpose(query: URLSearchParams): Purpose | undefined {
  if (!query.has('purpose')) return undefined;
  const purpose = onlyOne(query, 'purpose', 'train-ai');
  if (isPurpose(purpose)) return purpose;
  throw invalid(`Expected the purpose to be one of ${PURPOSES.join(', ')}, got ${quote(purpose)}`);
}

/**
 * Checks JSON from a request.
 *
 * @throws Problem that says in plain words what `schema` expected.
 */
export function readAs<Value>(schema: z.ZodType<Value>, given: unknown): Value {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  throw invalid(inputSentence(read.error));
}
