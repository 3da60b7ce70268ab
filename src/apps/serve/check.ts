import type { PurposeOptions } from '../../core/client/index.ts';
import { engineOf } from '../../core/client/engine.ts';
import type { Decision, Purpose } from '../../core/decision/index.ts';
import { renderRecord } from '../answers/text/json.ts';
import type { Agent } from '../../core/rules/agent-tokens.ts';
import type { Exchange, Service } from './exchange.ts';
import { onlyKnown, onlyOne, readAgents, readPurpose, soleParameter } from './request.ts';
import { type Handler, JSON_TYPE, type Reply } from './reply.ts';

/** The agents of the request or, when it names none, the agents of the service. */
export function agentFor(asked: readonly string[], { agents }: Service): Agent | undefined {
  const chosen = asked.length === 0 ? agents : asked;
  return chosen.length === 0 ? undefined : chosen;
}

/** The options of a question to the client. */
export function checkOptions(signal: AbortSignal, purpose: Purpose | undefined): PurposeOptions {
  return purpose === undefined ? { signal } : { signal, purpose };
}

/** The decision from memory; with `purpose`, with what the site states about the use of the page. */
export function recall(
  { client }: Service,
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

/** `GET /v1/check?url=…&agent=…&purpose=…`. Answers synchronously when the origin is cached in memory. */
export const checkOne: Handler = (exchange) => {
  const { service } = exchange;
  const sole = soleParameter(exchange.search, 'url');
  const { url, agents, purpose } =
    sole === undefined ? readCheck(exchange) : { url: sole, agents: [], purpose: undefined };
  const agent = agentFor(agents, service);
  const reply = (decision: Decision): Reply => ({
    type: JSON_TYPE,
    body: renderRecord({ target: { input: url }, decision }),
  });
  const known = recall(service, url, agent, purpose);
  return known === undefined
    ? service.client.check(url, agent, checkOptions(exchange.signal, purpose)).then(reply)
    : reply(known);
};

interface Question {
  readonly url: string;
  readonly agents: readonly string[];
  readonly purpose: Purpose | undefined;
}

function readCheck({ query }: Exchange): Question {
  onlyKnown(query, ['url', 'agent', 'purpose']);
  const url = onlyOne(query, 'url', 'https://example.com/page');
  return { url, agents: readAgents(query.getAll('agent')), purpose: readPurpose(query) };
}
