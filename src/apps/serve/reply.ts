import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Exchange } from './exchange.ts';
import { isRobotsError, type RobotsErrorCode } from '../../core/base/index.ts';

/** A complete response. */
export interface Reply {
  readonly type: string;
  readonly body: string | Buffer;
  /** Status code. Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers a request. It returns a reply, or `undefined` when it wrote the response itself. */
export type Handler = (exchange: Exchange) => Promise<Reply | undefined> | Reply;

export const JSON_TYPE = 'application/json';
export const NDJSON_TYPE = 'application/x-ndjson';

/** Allows the style sheet and the icon of the page, and its forms. There is no script. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Header fields of every response. Names and values alternate, because Node writes such an array fastest. */
const FIELDS: readonly string[] = Object.entries({
  'cache-control': 'no-store',
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Not `no-referrer`, under which browsers send the form of the page itself with `Origin: null`.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}).flat();

/** Writes the head of a response. Names and values alternate in `fields`. */
export function writeHead(response: ServerResponse, status: number, fields: readonly string[]): void {
  response.writeHead(status, [...FIELDS, ...fields]);
}

/** Sends a complete response. */
export function sendReply({ request, response, service }: Exchange, reply: Reply): void {
  const { status = 200, type, body } = reply;
  const fields = ['content-type', type, 'content-length', String(Buffer.byteLength(body))];
  if (reply.headers !== undefined) fields.push(...Object.entries(reply.headers).flat());
  const isHead = request.method === 'HEAD';
  // An unread request body closes the connection, because it would have to be read before the next request.
  const isRead = request.complete || request.method === 'GET' || isHead;
  const closes = !isRead || service.stopping.aborted;
  if (closes && reply.headers?.['connection'] === undefined) fields.push('connection', 'close');
  writeHead(response, status, fields);
  if (isHead) response.end();
  else response.end(body);
}

export function problemReply(problem: Problem): Reply {
  const { status, headers } = problem;
  return { status, headers, type: 'application/problem+json', body: JSON.stringify(problem) };
}

/** The problem for an unexpected error. The log has its cause; the response does not disclose it. */
export function unexpected(cause: unknown): Problem {
  return new Problem(
    500,
    'ERR_ROBOTS_INTERNAL',
    'Unexpected error: a bug, or a failure of the machine, such as a full disk; the standard error output of the service has the details',
    { cause },
  );
}

/** Error codes of requests, in addition to those of the library. */
type RequestErrorCode =
  | 'ERR_ROBOTS_INVALID_REQUEST'
  | 'ERR_ROBOTS_FOREIGN_HOST'
  | 'ERR_ROBOTS_FOREIGN_SITE'
  | 'ERR_ROBOTS_NOT_FOUND'
  | 'ERR_ROBOTS_METHOD_NOT_ALLOWED'
  | 'ERR_ROBOTS_REQUEST_TIMEOUT'
  | 'ERR_ROBOTS_TOO_LARGE'
  | 'ERR_ROBOTS_BUSY'
  | 'ERR_ROBOTS_UNKNOWN_BOOKING'
  | 'ERR_ROBOTS_NO_METRICS'
  | 'ERR_ROBOTS_INTERNAL';

export type ProblemCode = RobotsErrorCode | RequestErrorCode;

interface ProblemOptions extends ErrorOptions {
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error response in the format of RFC 9457. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly code: ProblemCode;
  /** Header fields of the response. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: ProblemCode,
    detail: string,
    { headers = {}, ...options }: ProblemOptions = {},
  ) {
    super(detail, options);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }

  /**
   * RFC 9457 §4.2.1: with `about:blank` "the problem has no additional semantics beyond that of the HTTP status
   * code", and the title is the status phrase. `code` and `detail` describe the error.
   */
  toJSON(): object {
    const { status, code, message: detail } = this;
    return { type: 'about:blank', title: STATUS_CODES[status], status, detail, code };
  }
}

/** The problem for a request that has another form than it should. */
export function invalid(detail: string, options?: ProblemOptions): Problem {
  return new Problem(400, 'ERR_ROBOTS_INVALID_REQUEST', detail, options);
}

/** Converts an error to a problem; `undefined` for an unexpected error. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (!isRobotsError(error)) return undefined;
  const status = error.code === 'ERR_ROBOTS_CLOSED' ? 503 : 400;
  return new Problem(status, error.code, error.message, { cause: error });
}
