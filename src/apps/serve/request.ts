import type { IncomingMessage } from 'node:http';
import { agentTokens } from '../../core/decision/agent-tokens.ts';
import { z } from 'zod';
import { quote, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { type Purpose, PURPOSES } from '../../core/decision/index.ts';
import { inputSentence } from '../answers/text/reasons.ts';
import { invalid, Problem, type ProblemCode } from './reply.ts';

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

const purposes = z.object({ purpose: z.enum(PURPOSES) });

/** @throws Problem when the query has several purposes, or an unknown one. */
export function readPurpose(query: URLSearchParams): Purpose | undefined {
  if (!query.has('purpose')) return undefined;
  return readAs(purposes, { purpose: onlyOne(query, 'purpose', 'train-ai') }).purpose;
}

/**
 * Checks JSON from a request.
 *
 * @throws Problem that says in plain words what `schema` expected.
 */
export function readAs<Value>(schema: z.ZodType<Value>, given: unknown): Value {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  throw invalid(inputSentence(read.error, given));
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
  assertPlain(request);
  const text = await readText(request, maxBytes);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid('Expected a JSON body, got something else', { cause });
  }
}

/** Reads with events: leaving an async iteration early would destroy the connection, which the response still needs. */
function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const text = new Promise<string>((resolve, reject) => {
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
    request.once('end', () => resolve(Buffer.concat(chunks).toString()));
    request.once('error', reject);
  });
  return text.finally(() => clearTimeout(timer));
}

/**
 * Host names that requests may be addressed to. DNS rebinding makes the name of a hostile site resolve to this
 * machine, and the browser then treats the site and this service as one origin. The name in `Host` reveals it.
 */
export class AllowedHosts {
  readonly #names: ReadonlySet<string>;
  /** The last allowed `Host` field, because most requests carry the same one. */
  #allowed: string | undefined;

  /** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for a name that no `Host` field can have, such as a URL. */
  constructor(bound: string, more: readonly string[]) {
    for (const name of more) {
      if (serialised(withoutPort(name)) !== undefined) continue;
      const host = URL.canParse(name) ? new URL(name).hostname : '';
      throw new RobotsInvalidOptionsError(
        `Expected --allow-host to be the name of a host, got ${quote(name)}; write ${host === '' ? 'robots.internal' : host}`,
      );
    }
    const names = ['localhost', '127.0.0.1', '[::1]', bound, ...more];
    this.#names = new Set(names.map((name) => serialised(withoutPort(name)) ?? name.toLowerCase()));
  }

  /** @throws Problem 421 when `Host` is not an allowed name, 400 when there is more than one or it is malformed. */
  assert({ headers: { host = '' }, rawHeaders }: IncomingMessage): void {
    assertSingleHost(rawHeaders);
    if (host === this.#allowed) return;
    const name = HOST.exec(host)?.[0];
    if (name === undefined) throw badHost(`got ${quote(host)}`);
    if (this.#names.has(serialised(name) ?? '')) {
      this.#allowed = host;
      return;
    }
    // RFC 9110 §15.5.20: "the request was directed at a server that is unable or unwilling to produce an
    // authoritative response for the target URI."
    throw new Problem(
      421,
      'ERR_ROBOTS_FOREIGN_HOST',
      `Expected a Host that this service accepts, got ${quote(host)}; to accept it, start the service with --allow-host`,
    );
  }
}

/**
 * RFC 9112 §3.2: "A server MUST respond with a 400 (Bad Request) status code to any HTTP/1.1 request message that lacks
 * a Host header field and to any request message that contains more than one Host header field line or a Host header
 * field with an invalid field value." Node itself rejects a request without it.
 */
function assertSingleHost(rawHeaders: readonly string[]): void {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1) throw badHost(`got ${hosts.length}`);
}

function badHost(got: string): Problem {
  const detail = `Expected one Host header field, which names a host and perhaps a port, ${got}`;
  return invalid(detail, { headers: { connection: 'close' } });
}

/** A host, before a port or without one. */
const HOST = /^(?:\[[\da-f:.]+\]|[^:/?#@\\\s]+)(?=:\d*$|$)/i;

/** A name may be given as a `Host` field has it. */
function withoutPort(name: string): string {
  return HOST.exec(name)?.[0] ?? name;
}

/** Serialises a host as in a URL; `undefined` when it is invalid. */
function serialised(name: string): string | undefined {
  if (/[/?#@\\]/.test(name)) return undefined;
  const bracketed = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
  try {
    return new URL(`http://${bracketed}/`).hostname.replace(/\.$/, '');
  } catch {
    return undefined;
  }
}

/** Path of the page. */
const PAGE = '/';

/**
 * Refuses requests that pages of other sites send: they could make this machine fetch from origins, even though they
 * cannot read the responses. Other sites may link to the page, which does nothing by itself.
 *
 * @throws Problem 403 for such a request.
 */
export function assertOwnSite({ method, headers }: IncomingMessage, path: string): void {
  const { host = '', origin } = headers;
  const site = headers['sec-fetch-site'];
  const safe = method === 'GET' || method === 'HEAD';
  if (safe && path === PAGE && headers['sec-fetch-dest'] === 'document') return;
  const ownSite = site === undefined || site === 'same-origin' || site === 'none';
  if (ownSite && (origin === undefined || hostOf(origin) === host.toLowerCase())) return;
  throw new Problem(
    403,
    'ERR_ROBOTS_FOREIGN_SITE',
    `Expected a request from the page of this service, or from no page, got one from ${quote(origin ?? site ?? 'another site')}`,
  );
}

function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase();
}
