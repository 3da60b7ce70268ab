import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { quote } from '../../core/base/index.ts';
import { agentTokens } from '../../core/decision/agent-tokens.ts';
import { isPurpose, type Purpose, PURPOSES } from '../../core/decision/index.ts';
import { invalid, Problem, type ProblemCode } from './reply.ts';

/** What a request asks: its query, and its body. */

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

/** Agents of a question in JSON. */
export const agentsSchema: z.ZodType<string | readonly string[]> = z.union(
  [z.string(), z.array(z.string()).min(1)],
  { error: 'a string or a list of strings' },
);

/** @throws Problem when the query has several purposes, or an unknown one. */
export function readPurpose(query: URLSearchParams): Purpose | undefined {
  if (!query.has('purpose')) return undefined;
  return purposeOf(onlyOne(query, 'purpose', 'train-ai'));
}

/** @throws Problem for any other text. */
export function purposeOf(purpose: string): Purpose {
  if (isPurpose(purpose)) return purpose;
  throw invalid(`Expected the purpose to be one of ${PURPOSES.join(', ')}, got ${quote(purpose)}`);
}

/** More would not help: the first ones often cause the others. */
const MAX_TOLD = 3;

/**
 * Checks JSON from a request.
 *
 * @throws Problem that says in plain words what `schema` expected.
 */
export function readAs<Value>(schema: z.ZodType<Value>, given: unknown): Value {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const told = read.error.issues
    .slice(0, MAX_TOLD)
    .map(({ path, message }) => `${path.join('.') || 'the whole'}: ${message}`);
  throw invalid(`Expected other input; ${told.join('; ')}`);
}

/** Deadline for a body of bounded length to arrive. */
const BODY_DEADLINE_MS = 30_000;

/**
 * Refuses a content coding (RFC 9110 §15.5.16), because the size limit counts the bytes as received, not as decoded.
 *
 * @throws Problem 415
 */
export function assertPlain({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding === 'identity') return;
  throw new Problem(
    415,
    'ERR_ROBOTS_INVALID_REQUEST',
    'Expected a body without Content-Encoding; send it uncompressed',
  );
}

/** @throws Problem 413 for more than `maxBytes`, 408 when the body does not arrive in time, 400 for invalid JSON. */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const body = await readBody(request, maxBytes);
  try {
    return JSON.parse(body.toString());
  } catch (cause) {
    throw invalid('Expected a JSON body, got something else', { cause });
  }
}

/**
 * Reads with events: leaving an async iteration early would destroy the connection, which the response still needs.
 *
 * @throws Problem 415 for a content coding, 413 for more than `maxBytes`, 408 when the body does not arrive in time.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  assertPlain(request);
  let timer: NodeJS.Timeout | undefined;
  const body = new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const fail = (status: number, code: ProblemCode, detail: string): void => {
      request.pause();
      request.removeAllListeners('data');
      reject(new Problem(status, code, detail, { headers: { connection: 'close' } }));
    };
    const tooLarge = (): void =>
      fail(413, 'ERR_ROBOTS_TOO_LARGE', `Expected a body of at most ${maxBytes} bytes, got more`);
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return tooLarge();
    timer = setTimeout(
      () => fail(408, 'ERR_ROBOTS_REQUEST_TIMEOUT', `Expected the body within ${BODY_DEADLINE_MS} ms`),
      BODY_DEADLINE_MS,
    );
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) tooLarge();
      else chunks.push(chunk);
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
  });
  return body.finally(() => clearTimeout(timer));
}
