import { quote, RobotsInvalidOptionsError, warnOnce } from '../base/index.ts';
import { whoAsks } from '../rules/agent.ts';

/** A product token, a User-Agent string, or a list of those in order of preference. */
export type Agent = string | readonly string[];

/** In order of preference; at least one. */
export type Tokens = readonly [string, ...string[]];

/**
 * The product tokens of an agent, in order of preference. Warns the process once of one that names no bot
 * (`CANFETCH_AGENT_UNNAMED`).
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when one of them has no product token.
 */
export function agentTokens(agent: Agent): Tokens {
  const agents: readonly unknown[] = typeof agent === 'string' ? [agent] : Array.isArray(agent) ? agent : [];
  const [first, ...others] = agents.map((each) => {
    // "*" asks for the group of all agents that no group names.
    const token = typeof each !== 'string' ? undefined : each === '*' ? each : tokenOf(each);
    if (token === undefined) {
      throw new RobotsInvalidOptionsError(
        `Expected \`agent\` to hold a product token, such as "ExampleBot" or "ExampleBot/1.0", got ${quote(each)}`,
      );
    }
    return token;
  });
  if (first === undefined) {
    throw new RobotsInvalidOptionsError(
      `Expected \`agent\` to be a string or a list of strings, got ${quote(agent)}`,
    );
  }
  return [first, ...others];
}

/** The product token of an agent; `undefined` when it has none. Warns the process once of one that names no bot. */
export function tokenOf(agent: string): string | undefined {
  const asking = whoAsks(agent);
  if (asking?.doubt === undefined) return asking?.token;
  const { doubt, token } = asking;
  const why = doubt === 'browser' ? 'names browsers and platforms, and no bot' : 'has a space in its name';
  warnOnce(
    `robots.txt is checked for ${quote(token)}, because the agent ${quote(agent)} ${why}: ` +
      'write one word and a version in front, such as "ExampleBot/1.0 (+https://example.com/bot)"',
    'CANFETCH_AGENT_UNNAMED',
  );
  return token;
}

const MAX_REMEMBERED_AGENTS = 256;
/** No header field, and so no agent, has it. */
const SEPARATOR = '\0';

/** Caches the tokens of agents: a crawler asks for the same few agents again and again. */
export class AgentTokens {
  /** The tokens of the client's own agent. */
  readonly #own: Tokens;
  /** By the text of an agent, or of a list, which the caller may change. */
  readonly #remembered = new Map<unknown, Tokens>();

  constructor(own: Tokens) {
    this.#own = own;
  }

  /** @throws the same error as {@link agentTokens}. */
  of(agent: Agent | undefined): Tokens {
    if (agent === undefined) return this.#own;
    const key = Array.isArray(agent) ? SEPARATOR + agent.join(SEPARATOR) : agent;
    let tokens = this.#remembered.get(key);
    if (tokens === undefined) {
      tokens = agentTokens(agent);
      if (this.#remembered.size >= MAX_REMEMBERED_AGENTS) this.#remembered.clear();
      this.#remembered.set(key, tokens);
    }
    return tokens;
  }
}
