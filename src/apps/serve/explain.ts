import { jsonLine, omitUndefined, TimeSlice } from '../../core/base/index.ts';
import type { Decision, Purpose } from '../../core/decision/index.ts';
import { profiles } from '../../core/lifecycle/index.ts';
import type { Agent } from '../../core/decision/agent-tokens.ts';
import { targetOf } from '../../core/url/index.ts';
import { type ClientExplanation, explainUrl } from '../answers/explanation.ts';
import type { ExplanationResult } from '../answers/schema/explanation.ts';
import type { PolicyResult } from '../answers/schema/policy.ts';
import { policyRecord } from '../answers/text/json.ts';
import { cause } from '../answers/text/reasons.ts';
import { lifetimeReason } from '../answers/text/sentences.ts';
import { timeline } from '../answers/timeline.ts';
import { agentOf } from './check.ts';
import type { Exchange, Service } from './exchange.ts';
import { onlyKnown, onlyOne, readAgents, readPurpose } from './query.ts';
import { type Handler, JSON_TYPE, Problem } from './reply.ts';
import { diagnosticsOf, fileParts, statedUsage, verdictOf } from './verdicts.ts';

/**
 * Limits the number of explanations in memory: each contains a whole file, and counts until it has been read.
 *
 * @throws Problem 503 when there are too many.
 */
export function limitExplanations({ service, signal }: Exchange): void {
  const { explanations } = service.limits;
  // An aborted signal emits no further `abort`, so the count would never be decremented.
  signal.throwIfAborted();
  if (service.explanations >= explanations) {
    throw new Problem(
      503,
      'ERR_ROBOTS_BUSY',
      `Expected at most ${explanations} explanations at a time, got one more; read the pending responses first`,
      { headers: { 'retry-after': '1' } },
    );
  }
  service.explanations++;
  signal.addEventListener('abort', () => service.explanations--, { once: true });
}

/** `GET /v1/policy?origin=…&agent=…` */
export const policy: Handler = async (exchange) => {
  limitExplanations(exchange);
  const { query, service, signal } = exchange;
  onlyKnown(query, ['origin', 'agent']);
  const url = onlyOne(query, 'origin', 'https://example.com');
  const agent = agentOf(query.getAll('agent'), service);
  const known = await service.client.policy(url, {
    signal,
    ...omitUndefined({ agent }),
  });
  const { rules } = known;
  const body = jsonLine<PolicyResult>({
    ...policyRecord(known),
    timeline: timeline(known, profiles[service.profile]),
    diagnostics: rules === undefined ? [] : diagnosticsOf(rules),
    ...statedUsage(rules, targetOf(url), known.agent),
  });
  return { type: JSON_TYPE, body };
};

/** A question about a URL, for an agent and others. */
export interface SiteQuestion {
  readonly url: string;
  readonly agent: Agent | undefined;
  readonly others: readonly string[];
  readonly purpose: Purpose | undefined;
}

/** The explanation for the agent, and the decisions for all, its own first. */
export async function explainSite(
  { url, agent, others, purpose }: SiteQuestion,
  { client }: Service,
  signal: AbortSignal,
): Promise<{ readonly explained: ClientExplanation; readonly decisions: readonly Decision[] }> {
  const explained = await explainUrl(client, url, { agent, purpose, signal });
  const decisions = [explained.decision];
  const slice = new TimeSlice(signal);
  for (const other of others) {
    decisions.push(await client.check(url, other, omitUndefined({ signal, purpose })));
    if (slice.isOver) await slice.yield();
  }
  return { explained, decisions };
}

/** `GET /v1/explain?url=…&agent=…&compare=…&purpose=…` */
export const explainOne: Handler = async (exchange) => {
  limitExplanations(exchange);
  const { query, service, signal } = exchange;
  onlyKnown(query, ['url', 'agent', 'compare', 'purpose']);
  const url = onlyOne(query, 'url', 'https://example.com/page');
  const purpose = readPurpose(query);
  const question = {
    url,
    agent: agentOf(query.getAll('agent'), service),
    others: readAgents(query.getAll('compare')),
    purpose,
  };
  const { explained, decisions } = await explainSite(question, service, signal);
  const { decision, policy: known, runnerUp, file, underProfiles } = explained;
  exchange.decision = decision;
  const verdicts = decisions.map((each) => verdictOf(each, file, purpose));
  // The random part of a lifetime spreads requests and is no reason: `policy.lifetime.jitterMs` has it.
  const because = known.lifetime && lifetimeReason({ ...known.lifetime, jitterMs: 0 });
  const body = jsonLine<ExplanationResult>({
    input: url,
    now: Date.now(),
    ...decision,
    runnerUp,
    verdicts,
    underProfiles,
    timeline: timeline(known, profiles[service.profile]),
    lifetimeReason: because,
    cause: known.failure && cause(known.robots),
    policy: policyRecord(known),
    ...(file && { ...fileParts(file, verdicts), sitemaps: known.sitemaps }),
    ...statedUsage(file, url, decision.agent, purpose),
  });
  return { type: JSON_TYPE, body };
};
