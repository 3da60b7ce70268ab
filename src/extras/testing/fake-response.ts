import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A response of a fake origin. A string is the body of a 200. */
export type FakeResponse =
  | string
  | {
      /** @default 200 */
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string | readonly string[]>>;
      readonly body?: string | Uint8Array;
    }
  | {
      /** `Location`, absolute or relative. */
      readonly redirect: string;
      /** @default 302 */
      readonly status?: number;
    }
  | {
      /**
       * `'reset'`: the connection is reset without a response. `'truncate'`: it breaks within the body. `'hang'`: no
       * response is ever sent.
       */
      readonly fault: 'reset' | 'truncate' | 'hang';
    }
  | {
      /** Sends the headers at once, then the body byte by byte. */
      readonly fault: 'drip';
      readonly body: string;
      /** Milliseconds between two bytes. @default 100 */
      readonly everyMs?: number;
    };

/** Sends a response. */
export function sendResponse(output: ServerResponse, socket: Socket, response: FakeResponse): void {
  if (typeof response === 'string') {
    output.end(response);
  } else if ('redirect' in response) {
    output.writeHead(response.status ?? 302, { location: response.redirect }).end();
  } else if ('fault' in response) {
    fail(output, socket, response);
  } else {
    const { status = 200, headers = {}, body = '' } = response;
    for (const [name, value] of Object.entries(headers)) output.setHeader(name, value);
    output.writeHead(status).end(body);
  }
}

function fail(
  output: ServerResponse,
  socket: Socket,
  response: Extract<FakeResponse, { fault: string }>,
): void {
  switch (response.fault) {
    case 'reset':
      socket.resetAndDestroy();
      return;
    case 'truncate':
      output.writeHead(200, { 'content-length': 1_000 });
      output.write('User-agent: *\nDisallow: /', () => socket.destroy());
      return;
    case 'hang':
      return;
    case 'drip':
      drip(output, response.body, response.everyMs ?? 100);
  }
}

function drip(output: ServerResponse, body: string, everyMs: number): void {
  const bytes = new TextEncoder().encode(body);
  let sent = 0;
  output.writeHead(200, { 'content-length': bytes.length }).flushHeaders();
  const timer = setInterval(() => {
    if (sent === bytes.length) {
      clearInterval(timer);
      output.end();
    } else output.write(bytes.subarray(sent, ++sent));
  }, everyMs);
  // The timer must not keep the test process alive.
  timer.unref();
  output.once('close', () => clearInterval(timer));
}

const KINDS = new Set(['reset', 'truncate', 'hang', 'drip']);

/** Describes a valid response, when this one is invalid: tests are not always type-checked. */
export function expectedResponse(response: unknown): string | undefined {
  if (typeof response === 'string') return undefined;
  if (typeof response !== 'object' || response === null) return 'a string or an object';
  const get = (name: string): unknown => Reflect.get(response, name);
  const status = get('status') ?? 200;
  // A 1xx is not a final response.
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 999) {
    return 'one with a `status` from 200 to 999';
  }
  if ('fault' in response && !KINDS.has(String(get('fault')))) {
    return "one whose `fault` is 'reset', 'truncate', 'hang' or 'drip'";
  }
  if (get('fault') === 'drip' && typeof get('body') !== 'string') return 'one with a `body` to drip';
  if ('redirect' in response && typeof get('redirect') !== 'string')
    return 'one whose `redirect` is a string';
  return undefined;
}
