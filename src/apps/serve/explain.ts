import { jsonLine, omitUndefined } from '../../core/base/index.ts';
import { usage } from '../../core/rules/index.ts';
import { targetOf } from '../../core/url/index.ts';
import { explainUrl } from '../answers/explanation.ts';
import type { ExplanationResult, PolicyResult } from '../answers/schema/answers.ts';
import { policyRecord } from '../answers/text/json.ts';
import { agentOf } from './check.ts';
import type { Exchange } from './exchange.ts';
import { onlyKnown, onlyOne, readPurpose } from './request.ts';
import { type Handler, JSON_TYPE, Problem } from './reply.ts';

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
  const known = await service.client.policy(url, { signal, ...omitUndefined({ agent }) });
  const stated = known.rules && usage(known.rules, targetOf(url), known.agent);
  const body = jsonLine<PolicyResult>({
    ...policyRecord(known),
    ...(stated !== undefined && stated.sources.length > 0 && { usage: stated }),
  });
  return { type: JSON_TYPE, body };
};

/** `GET /v1/explain?url=…&agent=…&purpose=…` */
export const explain: Handler = async (exchange) => {
  limitExplanations(exchange);
  const { query, service, signal } = exchange;
  onlyKnown(query, ['url', 'agent', 'purpose']);
  const url = onlyOne(query, 'url', 'https://example.com/page');
  const agent = agentOf(query.getAll('agent'), service);
  const explained = await explainUrl(service.client, url, { agent, purpose: readPurpose(query), signal });
  const { decision, policy: known, file: _, ...circumstances } = explained;
  exchange.decision = decision;
  const answer = { input: url, ...decision, ...circumstances, policy: policyRecord(known) };
  return { type: JSON_TYPE, body: jsonLine<ExplanationResult>(answer) };
};
