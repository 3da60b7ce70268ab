import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { type Decision, type Purpose, PURPOSES } from '../../core/decision/index.ts';
import type { Agent } from '../../core/decision/agent-tokens.ts';
import {
  ignore,
  jsonLine,
  mapBatches,
  orAborted,
  quote,
  untilAborted,
  omitUndefined,
} from '../../core/base/index.ts';
import { decideUrl } from '../answers/decide-online.ts';
import { tooLongError, type Target, targetLines } from '../answers/input/targets.ts';
import { explanationRecord, renderRecord, policyRecord } from '../answers/text/json.ts';
import { write, writeLines } from '../answers/session.ts';
import type { Exchange, Service } from './exchange.ts';
import { agentsSchema, assertPlain, onlyKnown, onlyOne, readAgents, readAs, readPurpose } from './request.ts';
import {
  type Handler,
  invalid,
  JSON_TYPE,
  type Reply,
  NDJSON_TYPE,
  Problem,
  problemOf,
  writeHead,
} from './reply.ts';
import { usage } from '../../core/rules/index.ts';
import { targetOf } from '../../core/url/index.ts';
import { explainUrl } from '../answers/explanation.ts';

/** Maximum number of lines that are read ahead of the first one without a decision. */
const READ_AHEAD = 512;

/** The agents that were asked for or, when there are none, those of the service. */
export function agentOf(named: readonly string[], { agents }: Service): Agent | undefined {
  const asked = readAgents(named);
  const chosen = asked.length === 0 ? agents : asked;
  return chosen.length === 0 ? undefined : chosen;
}

/** `GET /v1/check?url=…&agent=…&purpose=…`. Answers synchronously when the origin is cached in memory. */
export const checkOne: Handler = (exchange) => {
  const { query, service } = exchange;
  onlyKnown(query, ['url', 'agent', 'purpose']);
  const url = onlyOne(query, 'url', 'https://example.com/page');
  const { agent, purpose } = readDefaults(query, service);
  const reply = (decision: Decision): Reply => {
    exchange.decision = decision;
    return { type: JSON_TYPE, body: renderRecord({ target: { input: url }, decision }) };
  };
  const decision = decideUrl(service.client, url, agent, purpose, exchange);
  return decision instanceof Promise ? decision.then(reply) : reply(decision);
};

/** Agents and purpose of a query. A stream has them as defaults of its lines. */
function readDefaults(query: URLSearchParams, service: Service): Defaults {
  return { agent: agentOf(query.getAll('agent'), service), purpose: readPurpose(query) };
}

interface Defaults {
  readonly agent: Agent | undefined;
  readonly purpose: Purpose | undefined;
}

/** `POST /v1/check`: one question per line, one decision per line in the same order, streamed in both directions. */
export const checkMany: Handler = async (exchange) => {
  const { request, response, query, service, signal } = exchange;
  onlyKnown(query, ['agent', 'purpose']);
  const defaults = readDefaults(query, service);
  assertPlain(request);
  limitLargeAnswers(exchange);
  writeHead(response, 200, ['content-type', NDJSON_TYPE]);
  response.flushHeaders();
  response.on('error', ignore);
  // A pipelined response emits no `close` when the connection closes during the response before it.
  await orAborted(stream(exchange, defaults), signal);
  return undefined;
};

async function stream({ request, response, service, signal }: Exchange, defaults: Defaults): Promise<void> {
  const { stopping } = service;
  const lines = untilAborted(linesOf(request), stopping);
  const answer = answering(defaults, service, signal);
  for await (const records of mapBatches(lines, { concurrency: READ_AHEAD, ordered: true }, answer)) {
    await writeLines(response, records);
  }
  if (stopping.aborted && !request.readableEnded) {
    const error = {
      code: 'ERR_ROBOTS_CLOSED',
      message: 'The service is stopping; send the remaining questions again',
    } as const;
    await write(response, jsonLine({ error }));
    // The rest of the questions is not read, so the connection cannot carry another request.
    response.once('finish', () => request.socket.destroySoon());
  }
  response.end();
}

/** The lines of a request. They cannot be closed: that would destroy the request, whose response is still to be written. */
function linesOf(request: IncomingMessage): AsyncIterable<readonly Target[]> {
  const lines = targetLines(request);
  return { [Symbol.asyncIterator]: () => ({ next: () => lines.next() }) };
}

/** Agents and purpose that a line does not state are those of the request. */
const question = z.strictObject({
  url: z.string(),
  agent: agentsSchema.optional(),
  purpose: z.enum(PURPOSES).optional(),
});

/** Makes the function that decides a line, synchronously when the origin is cached in memory. */
function answering(
  defaults: Defaults,
  service: Service,
  signal: AbortSignal,
): (line: Target) => string | Promise<string> {
  return (target) => {
    try {
      if (target.tooLong === true) return renderRecord({ target, error: tooLongError });
      const { url, agent: named, purpose = defaults.purpose } = readQuestion(target.input);
      const agent = named === undefined ? defaults.agent : readAgents([named].flat());
      const answered = url === target.input ? target : { ...target, input: url };
      const decision = decideUrl(service.client, url, agent, purpose, { signal });
      if (!(decision instanceof Promise)) return renderRecord({ target: answered, decision });
      return decision.then(
        (checked) => renderRecord({ target: answered, decision: checked }),
        (error: unknown) => failedRecord(target, error, signal),
      );
    } catch (error) {
      return failedRecord(target, error, signal);
    }
  };
}

function failedRecord(target: Target, error: unknown, signal: AbortSignal): string {
  const problem = signal.aborted ? undefined : problemOf(error);
  if (problem === undefined) throw error;
  return renderRecord({ target, error: { code: problem.code, message: problem.message } });
}

/** Parses a line: a URL, a JSON string that holds one, or a JSON object. */
function readQuestion(line: string): z.infer<typeof question> {
  if (!line.startsWith('"') && !line.startsWith('{')) return { url: line };
  const value = parsed(line);
  return typeof value === 'string' ? { url: value } : readAs(question, value);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw invalid(`Expected a URL, or JSON, got ${quote(line)}`, { cause });
  }
}

/**
 * Limits what is in memory: a stream has many questions and an explanation a whole file. Each counts until it has been read.
 *
 * @throws Problem 503 when there are too many.
 */
export function limitLargeAnswers({ service, signal }: Exchange): void {
  const { largeAnswers } = service.limits;
  // An aborted signal emits no further `abort`, so the count would never be decremented.
  signal.throwIfAborted();
  if (service.largeAnswers >= largeAnswers) {
    throw new Problem(
      503,
      'ERR_ROBOTS_BUSY',
      `Expected at most ${largeAnswers} streams, explanations and policies at a time, got one more; read the pending responses first`,
      { headers: { 'retry-after': '1' } },
    );
  }
  service.largeAnswers++;
  signal.addEventListener('abort', () => service.largeAnswers--, { once: true });
}

/** `GET /v1/policy?origin=…&agent=…` */
export const policy: Handler = async (exchange) => {
  limitLargeAnswers(exchange);
  const { query, service, signal } = exchange;
  onlyKnown(query, ['origin', 'agent']);
  const url = onlyOne(query, 'origin', 'https://example.com');
  const agent = agentOf(query.getAll('agent'), service);
  const known = await service.client.policy(url, { signal, ...omitUndefined({ agent }) });
  const stated = known.rules && usage(known.rules, targetOf(url), known.agent);
  const body = jsonLine({
    ...policyRecord(known),
    ...(stated !== undefined && stated.sources.length > 0 && { usage: stated }),
  });
  return { type: JSON_TYPE, body };
};

/** `GET /v1/explain?url=…&agent=…&purpose=…` */
export const explain: Handler = async (exchange) => {
  limitLargeAnswers(exchange);
  const { query, service, signal } = exchange;
  onlyKnown(query, ['url', 'agent', 'purpose']);
  const url = onlyOne(query, 'url', 'https://example.com/page');
  const agent = agentOf(query.getAll('agent'), service);
  const explained = await explainUrl(service.client, url, { agent, purpose: readPurpose(query), signal });
  exchange.decision = explained.decision;
  return { type: JSON_TYPE, body: jsonLine(explanationRecord(url, explained)) };
};
