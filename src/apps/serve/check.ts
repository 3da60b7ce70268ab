import type { PurposeOptions } from '../../core/client/index.ts';
import { engineOf } from '../../core/client/engine.ts';
import type { Decision, Purpose } from '../../core/decision/index.ts';
import { renderRecord } from '../answers/text/json.ts';
import type { Agent } from '../../core/rules/agent-tokens.ts';
import type { Exchange, Service } from './exchange.ts';
import {
  onlyKnown,
  onlyOne,
  readAgents,
  readPurpose,
  soleParameter,
  asPurpose,
  assertPlain,
} from './request.ts';
import { type Handler, JSON_TYPE, type Reply, NDJSON_TYPE, Problem, problemOf, writeHead } from './reply.ts';
import type { IncomingMessage } from 'node:http';
import pLimit from 'p-limit';
import { mapBatches, orAborted, quote, untilAborted, jsonLine } from '../../core/base/index.ts';
import { tooLongError, type Target, targetLines } from '../answers/input/targets.ts';
import { Output } from '../answers/text/output.ts';
import type { LineError } from '../answers/schema.ts';

/** Maximum number of concurrent streams of questions. */
export const MAX_STREAMS = 8;
/** Maximum number of origins that one stream waits for. All streams together leave fetches for other requests. */
export const STREAM_CONCURRENCY = 32;
/** Maximum number of lines that are read ahead of the first one without a decision. */
const READ_AHEAD = 512;

/** The agents of the request or, when it names none, the agents of the service. */
export function agentFor(asked: readonly string[], { agents }: Service): Agent | undefined {
  const chosen = asked.length === 0 ? agents : asked;
  return chosen.length === 0 ? undefined : chosen;
}

/** The options of a question to the client. */
function checkOptions(signal: AbortSignal, purpose: Purpose | undefined): PurposeOptions {
  return purpose === undefined ? { signal } : { signal, purpose };
}

/** The decision from memory; with `purpose`, with what the site states about the use of the page. */
function recall(
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

/** What a query asks. That of a stream has the defaults of its lines. */
interface Defaults {
  readonly agents: readonly string[];
  readonly purpose: Purpose | undefined;
}

function readCheck({ query }: Exchange): Defaults & { readonly url: string } {
  onlyKnown(query, ['url', 'agent', 'purpose']);
  const url = onlyOne(query, 'url', 'https://example.com/page');
  return { url, agents: readAgents(query.getAll('agent')), purpose: readPurpose(query) };
}

/** `POST /v1/check`: one question per line, one decision per line in the same order, streamed in both directions. */
export const checkMany: Handler = async (exchange) => {
  const { request, response, query, service, signal } = exchange;
  onlyKnown(query, ['agent', 'purpose']);
  const defaults = { agents: readAgents(query.getAll('agent')), purpose: readPurpose(query) };
  assertPlain(request);
  if (service.streams >= MAX_STREAMS) {
    throw new Problem(
      503,
      'ERR_ROBOTS_BUSY',
      `Expected at most ${MAX_STREAMS} streams of questions at a time, got one more; send several questions over one stream`,
      { headers: { 'retry-after': '1', connection: 'close' } },
    );
  }
  service.streams++;
  try {
    writeHead(response, 200, ['content-type', NDJSON_TYPE]);
    response.flushHeaders();
    // A pipelined response emits no `close` when the connection closes during the response before it.
    await orAborted(stream(exchange, defaults), signal);
  } finally {
    service.streams--;
  }
  return undefined;
};

async function stream({ request, response, service, signal }: Exchange, defaults: Defaults): Promise<void> {
  const output = new Output(response);
  const limit = pLimit(STREAM_CONCURRENCY);
  const ending = new AbortController();
  const end = (): void => ending.abort();
  service.stopping.addEventListener('abort', end, { signal });
  if (service.stopping.aborted) end();
  const progress = new StreamProgress(service.limits.stalledMs, {
    onSilent: end,
    onUnread: () => request.socket.destroy(),
  });
  signal.addEventListener('abort', () => progress.end(), { once: true });
  try {
    const lines = untilAborted(linesOf(request), ending.signal);
    const answer = answering(defaults, service, limit, signal);
    const ask = (line: Target): string | Promise<string> => {
      progress.asked();
      return answer(line);
    };
    for await (const records of mapBatches(lines, { concurrency: READ_AHEAD, ordered: true }, ask)) {
      await progress.written(output.writeLines(records), records.length);
    }
    if (ending.signal.aborted && !request.readableEnded) {
      await progress.written(output.write(errorRecord(whyEnded(service))), 0);
      // The rest of the questions is not read, so the connection cannot carry another request.
      response.once('finish', () => request.socket.destroySoon());
    }
    await progress.written(output.release(), 0);
    response.end();
  } finally {
    progress.end();
    service.stopping.removeEventListener('abort', end);
  }
}

/** The lines of a request. They cannot be closed: that would destroy the request, whose response is still to be written. */
function linesOf(request: IncomingMessage): AsyncIterable<readonly Target[]> {
  const lines = targetLines(request);
  return { [Symbol.asyncIterator]: () => ({ next: () => lines.next() }) };
}

function whyEnded({ stopping, limits }: Service): Problem {
  if (stopping.aborted) {
    return new Problem(
      503,
      'ERR_ROBOTS_CLOSED',
      'The service is stopping; send the remaining questions again',
    );
  }
  const expected = `Expected a question within ${limits.stalledMs} ms, got none; open a new stream to ask more`;
  return new Problem(408, 'ERR_ROBOTS_REQUEST_TIMEOUT', expected);
}

interface Question {
  readonly url: string;
  /** `undefined` selects the agents of the request. */
  readonly agents: readonly string[] | undefined;
  /** `undefined` selects the purpose of the request. */
  readonly purpose: Purpose | undefined;
}

/** Makes the function that decides a line, synchronously when the origin is cached in memory. */
function answering(
  defaults: Defaults,
  service: Service,
  limit: ReturnType<typeof pLimit>,
  signal: AbortSignal,
): (line: Target) => string | Promise<string> {
  const { client } = service;
  const usual = agentFor(defaults.agents, service);
  return (target) => {
    try {
      if (target.tooLong === true)
        return renderRecord({ target: truncateInput(target), error: tooLongError });
      const { url, agents, purpose = defaults.purpose } = readQuestion(target.input);
      const agent = agents === undefined ? usual : agentFor(agents, service);
      const answered = url === target.input ? target : { ...target, input: url };
      const decision = recall(service, url, agent, purpose);
      if (decision !== undefined) return renderRecord({ target: answered, decision });
      return limit(() => client.check(url, agent, checkOptions(signal, purpose))).then(
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
  return renderRecord({
    target: truncateInput(target),
    error: { code: problem.code, message: problem.message },
  });
}

/** Parses a line: a URL, a JSON string that holds one, or a JSON object with `url`, `agent` and `purpose`. */
function readQuestion(line: string): Question {
  if (!line.startsWith('"') && !line.startsWith('{')) return plainQuestion(line);
  const value = parsed(line);
  if (typeof value === 'string') return plainQuestion(value);
  const { url, agent, purpose: given, ...others } = fields(value);
  const [unknown] = Object.keys(others);
  if (typeof url !== 'string') throw invalid(`Expected \`url\` to be a string, got ${quote(url)}`);
  if (unknown !== undefined)
    throw invalid(`Expected \`url\`, \`agent\` and \`purpose\` only, got ${quote(unknown)}`);
  const purpose = given === undefined ? undefined : asPurpose(given);
  if (agent === undefined) return { url, agents: undefined, purpose };
  const agents: unknown[] = Array.isArray(agent) ? agent : [agent];
  const names = agents.filter((each) => typeof each === 'string');
  if (names.length < agents.length || names.length === 0) {
    throw invalid(`Expected \`agent\` to be a string or a list of strings, got ${quote(agent)}`);
  }
  return { url, agents: readAgents(names), purpose };
}

function plainQuestion(url: string): Question {
  return { url, agents: undefined, purpose: undefined };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw invalid(`Expected a URL, or JSON, got ${quote(line)}`, cause);
  }
}

function fields(value: unknown): Record<string, unknown> {
  return { ...Object(value) };
}

function invalid(message: string, cause?: unknown): Problem {
  return new Problem(400, 'ERR_ROBOTS_INVALID_REQUEST', message, { cause });
}

const MAX_ECHO = 2_000;

/** Truncates the input of an error, so that the response is not as long as the question. */
function truncateInput(target: Target): Target {
  return target.input.length > MAX_ECHO ? { ...target, input: target.input.slice(0, MAX_ECHO) } : target;
}

function errorRecord({ code, message }: Problem): string {
  return jsonLine<LineError>({ error: { code, message } });
}

/** Callbacks for a stream that makes no progress. */
interface StallHandlers {
  /** Called when no complete question arrived, and no question waits for its decision. */
  readonly onSilent: () => void;
  /** Called when the requester does not read the response. */
  readonly onUnread: () => void;
}

/**
 * Ends a stream of questions that makes no progress for `limitMs`. Only complete questions count as progress, because
 * a stream of single bytes would otherwise occupy a place for ever. Waiting for decisions does not end a stream, because
 * this service takes that time.
 */
export class StreamProgress {
  readonly #timer: NodeJS.Timeout;
  #unanswered = 0;
  #isWriting = false;

  constructor(limitMs: number, { onSilent, onUnread }: StallHandlers) {
    this.#timer = setTimeout(() => {
      if (this.#isWriting) onUnread();
      else if (this.#unanswered === 0) onSilent();
      else this.#timer.refresh();
    }, limitMs);
  }

  /** Notes that a question arrived. */
  asked(): void {
    this.#unanswered++;
    // Questions are no sign that the response is read.
    if (!this.#isWriting) this.#timer.refresh();
  }

  /** Waits for `write`, which resolves when the output has room for more, and then counts its `answers` as answered. */
  async written(write: Promise<void>, answers: number): Promise<void> {
    this.#isWriting = true;
    this.#timer.refresh();
    await write;
    this.#isWriting = false;
    this.#unanswered -= answers;
    this.#timer.refresh();
  }

  /** Stops the timer when the stream has ended. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
