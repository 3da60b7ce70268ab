import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertKnownOptions, quote, RobotsInvalidOptionsError } from '../../core/base/index.ts';

/** A request that a fake origin received. */
export interface FakeRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

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

/** One response for every request, or a list with one response per request. The last one repeats. */
export type FakeScript = FakeResponse | readonly FakeResponse[];

export interface FakeOriginOptions {
  /** Responses to `/robots.txt`. @default a 404 */
  readonly robots?: FakeScript;
  /**
   * Responses to all other paths: by path and query, or from a function. A path without a response gets a 404.
   * @default 200 for every path
   */
  readonly pages?:
    | Readonly<Record<string, FakeScript>>
    | ((request: FakeRequest) => FakeResponse | undefined | Promise<FakeResponse | undefined>);
}

/** A site on a loopback port. */
export interface FakeOrigin extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** The absolute URL of a path. */
  url(path: string): string;
  /** Every request so far, in order of arrival. */
  readonly requests: readonly FakeRequest[];
  /** Number of requests for a path. */
  count(path: string): number;
  /** Number of requests for `/robots.txt`. */
  readonly robotsCount: number;
  /** Number of requests for other paths. */
  readonly pageCount: number;
  /** TCP connections so far. */
  readonly connections: number;
  /** Resolves when the path has been requested `times` times. @default 1 */
  whenRequested(path: string, times?: number): Promise<void>;
  /** Stops listening and breaks open connections. Can be called twice. */
  close(): Promise<void>;
}

const ROBOTS = '/robots.txt';

/**
 * Starts a real HTTP server with scripted responses, which counts its requests.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) naming the invalid response.
 *
 * @example
 * ```ts
 * await using site = await fakeOrigin({
 *   robots: ['User-agent: *\nDisallow: /private', { status: 503, headers: { 'retry-after': '60' } }],
 *   pages: { '/old': { redirect: '/private' }, '/slow': { fault: 'hang' } },
 * });
 * ```
 */
export async function fakeOrigin(options: FakeOriginOptions = {}): Promise<FakeOrigin> {
  const { robots, pages } = readOptions(options);
  const requests: FakeRequest[] = [];
  let connections = 0;
  const count = (path: string): number => requests.filter((request) => request.path === path).length;

  const server = createServer((incoming, output) => {
    const { method = '', url: path = '', headers, socket } = incoming;
    const request: FakeRequest = { method, path, headers };
    requests.push(request);
    const respond = path === ROBOTS ? robots : pages;
    void Promise.resolve(respond(request))
      .then((response = { status: 404 }) => sendResponse(output, socket, response))
      .catch((error: unknown) => {
        // A page function that throws gets a 500, as by a real server.
        if (output.headersSent) socket.destroy();
        else output.writeHead(500).end(String(error));
      });
  });
  server.on('connection', () => connections++);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;

  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  return {
    origin,
    url: (path) => origin + path,
    requests,
    count,
    get robotsCount() {
      return count(ROBOTS);
    },
    get pageCount() {
      return requests.length - count(ROBOTS);
    },
    get connections() {
      return connections;
    },
    async whenRequested(path, times = 1) {
      while (count(path) < times) await once(server, 'request');
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

type Responder = (request: FakeRequest) => FakeResponse | undefined | Promise<FakeResponse | undefined>;

function readOptions(options: FakeOriginOptions): { robots: Responder; pages: Responder } {
  assertKnownOptions(options, ['robots', 'pages']);
  const { robots = { status: 404 }, pages } = options;
  return { robots: responderOf('robots', robots), pages: pageResponder(pages) };
}

function pageResponder(pages: FakeOriginOptions['pages']): Responder {
  if (pages === undefined) return () => 'a page';
  if (typeof pages === 'function') return async (request) => pages(request);
  const scripts = new Map(
    Object.entries(pages).map(([path, script]) => [path, responderOf(`pages[${quote(path)}]`, script)]),
  );
  return (request) => scripts.get(request.path)?.(request);
}

function responderOf(name: string, script: FakeScript): Responder {
  const responses = [script].flat();
  if (responses.length === 0) {
    throw new RobotsInvalidOptionsError(`Expected \`${name}\` to hold at least one response, got none`);
  }
  responses.forEach((response, at) => assertResponse(`\`${name}\`, response ${at + 1},`, response));
  let taken = 0;
  return () => responses[Math.min(taken++, responses.length - 1)];
}

function assertResponse(what: string, response: unknown): void {
  const expected = expectedResponse(response);
  if (expected === undefined) return;
  throw new RobotsInvalidOptionsError(
    `Expected ${what} to be ${expected}, got ${quote(JSON.stringify(response))}`,
  );
}

async function sendResponse(output: ServerResponse, socket: Socket, response: FakeResponse): Promise<void> {
  if (typeof response === 'string') {
    output.end(response);
  } else if ('redirect' in response) {
    output.writeHead(response.status ?? 302, { location: response.redirect }).end();
  } else if (!('fault' in response)) {
    const { status = 200, headers = {}, body = '' } = response;
    for (const [name, value] of Object.entries(headers)) output.setHeader(name, value);
    output.writeHead(status).end(body);
  } else if (response.fault === 'reset') {
    socket.resetAndDestroy();
  } else if (response.fault === 'truncate') {
    output.writeHead(200, { 'content-length': 1_000 });
    output.write('User-agent: *\nDisallow: /', () => socket.destroy());
  } else if (response.fault === 'drip') {
    const bytes = new TextEncoder().encode(response.body);
    output.writeHead(200, { 'content-length': bytes.length }).flushHeaders();
    for (const byte of bytes) {
      // The timer must not keep the test process alive.
      await sleep(response.everyMs ?? 100, undefined, { ref: false });
      if (output.destroyed) return;
      output.write(Uint8Array.of(byte));
    }
    output.end();
  }
}

const KINDS = new Set(['reset', 'truncate', 'hang', 'drip']);

/** Describes a valid response, when this one is invalid: tests are not always type-checked. */
function expectedResponse(response: unknown): string | undefined {
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
