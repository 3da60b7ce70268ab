import { STATUS_CODES } from 'node:http';
import { isRobotsError, type RobotsErrorCode } from '../../core/base/index.ts';

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
  | 'ERR_ROBOTS_NO_METRICS'
  | 'ERR_ROBOTS_INTERNAL';

export type ProblemCode = RobotsErrorCode | RequestErrorCode;

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
    {
      headers = {},
      cause,
    }: {
      readonly headers?: Readonly<Record<string, string>>;
      cause?: unknown;
    } = {},
  ) {
    super(detail, { cause });
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
    return {
      type: 'about:blank',
      title: STATUS_CODES[status],
      status,
      detail,
      code,
    };
  }
}

/** Converts an error to a problem; `undefined` for an unexpected error. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (!isRobotsError(error)) return undefined;
  const status = error.code === 'ERR_ROBOTS_CLOSED' ? 503 : 400;
  return new Problem(status, error.code, error.message, { cause: error });
}
