import { cut, jsonLine, withoutUserinfo } from '../answers/text/index.ts';
import type { AccessLine } from '../answers/schema.ts';
import type { Exchange } from './exchange.ts';

/** Characters of a path or a URL that a line has. */
const MAX_LENGTH = 2_000;

/**
 * Makes the function that is called when an exchange has ended, and writes a line of JSON for it: `time`, `method`, `path`,
 * the `url` or `origin` that was asked about, `status`, `durationMs`, `address`, and `aborted` when the requester did not
 * take the whole answer.
 *
 * @param all Whether every request has a line. Failures (5xx) always have one.
 */
export function accessLog(
  write: (line: string) => void,
  all: boolean,
): (exchange: Exchange, durationMs: number) => void {
  return (exchange, durationMs) => {
    const { statusCode: status } = exchange.response;
    if (all || status >= 500) write(accessLine(exchange, durationMs));
  };
}

function accessLine({ request, response, path, query }: Exchange, durationMs: number): string {
  const asked = (name: string): Record<string, string> => {
    const value = query.get(name);
    return value === null ? {} : { [name]: cut(withoutUserinfo(value), MAX_LENGTH) };
  };
  return jsonLine<AccessLine>({
    time: new Date().toISOString(),
    method: request.method,
    path: cut(path, MAX_LENGTH),
    ...asked('url'),
    ...asked('origin'),
    status: response.statusCode,
    durationMs: Math.round(durationMs * 1_000) / 1_000,
    address: request.socket.remoteAddress,
    aborted: response.writableFinished ? undefined : true,
  });
}
