import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** An answer of a fake origin. A string is the body of a 200. */
export type FakeAnswer =
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
       * `'reset'`: the connection is reset without an answer. `'truncate'`: it breaks within the body. `'hang'`: no
       * answer is ever sent.
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

/** Answers one request with `answer`. */
export function sendAnswer(response: ServerResponse, socket: Socket, answer: FakeAnswer): void {
  if (typeof answer === 'string') {
    response.end(answer);
  } else if ('redirect' in answer) {
    response.writeHead(answer.status ?? 302, { location: answer.redirect }).end();
  } else if ('fault' in answer) {
    fail(response, socket, answer);
  } else {
    const { status = 200, headers = {}, body = '' } = answer;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.writeHead(status).end(body);
  }
}

function fail(
  response: ServerResponse,
  socket: Socket,
  answer: Extract<FakeAnswer, { fault: string }>,
): void {
  switch (answer.fault) {
    case 'reset':
      socket.resetAndDestroy();
      return;
    case 'truncate':
      response.writeHead(200, { 'content-length': 1_000 });
      response.write('User-agent: *\nDisallow: /', () => socket.destroy());
      return;
    case 'hang':
      return;
    case 'drip':
      drip(response, answer.body, answer.everyMs ?? 100);
  }
}

function drip(response: ServerResponse, body: string, everyMs: number): void {
  const bytes = new TextEncoder().encode(body);
  let sent = 0;
  response.writeHead(200, { 'content-length': bytes.length }).flushHeaders();
  const timer = setInterval(() => {
    if (sent === bytes.length) {
      clearInterval(timer);
      response.end();
    } else response.write(bytes.subarray(sent, ++sent));
  }, everyMs);
  // The timer must not keep the test process alive.
  timer.unref();
  response.once('close', () => clearInterval(timer));
}

const KINDS = new Set(['reset', 'truncate', 'hang', 'drip']);

/** Describes a valid answer, when this one is invalid: tests are not always type-checked. */
export function expectedAnswer(answer: unknown): string | undefined {
  if (typeof answer === 'string') return undefined;
  if (typeof answer !== 'object' || answer === null) return 'a string or an object';
  const get = (name: string): unknown => Reflect.get(answer, name);
  const status = get('status') ?? 200;
  // A 1xx is not a final response.
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 999) {
    return 'one with a `status` from 200 to 999';
  }
  if ('fault' in answer && !KINDS.has(String(get('fault')))) {
    return "one whose `fault` is 'reset', 'truncate', 'hang' or 'drip'";
  }
  if (get('fault') === 'drip' && typeof get('body') !== 'string') return 'one with a `body` to drip';
  if ('redirect' in answer && typeof get('redirect') !== 'string') return 'one whose `redirect` is a string';
  return undefined;
}
