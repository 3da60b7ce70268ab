import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { assertKnownOptions, quote, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { expectedResponse, type FakeResponse, sendResponse } from './fake-response.ts';

/** A request that a fake origin received. */
export interface FakeRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

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
  const watchers = new Set<() => void>();
  const sockets = new Set<Socket>();
  let connections = 0;
  const count = (path: string): number => requests.filter((request) => request.path === path).length;

  const server = createServer((incoming, output) => {
    const { method = '', url: path = '', headers } = incoming;
    const request: FakeRequest = { method, path, headers };
    requests.push(request);
    for (const watcher of watchers) watcher();
    const response = path === ROBOTS ? robots(request) : pages(request);
    void respond(response, output, incoming.socket);
  });
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const origin = await listenOnLoopback(server);

  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
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
    whenRequested: (path, times = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (count(path) < times) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function respond(
  response: ReturnType<Responder>,
  output: ServerResponse,
  socket: Socket,
): Promise<void> {
  try {
    await sendResponse(output, socket, (await response) ?? { status: 404 });
  } catch (error) {
    // A page function that throws gets a 500, as by a real server.
    if (output.headersSent) socket.destroy();
    else output.writeHead(500).end(String(error));
  }
}

/** @returns the origin. */
async function listenOnLoopback(server: Server): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

type Responder = (request: FakeRequest) => FakeResponse | undefined | Promise<FakeResponse | undefined>;

function readOptions(options: FakeOriginOptions): { robots: Responder; pages: Responder } {
  assertKnownOptions(options, ['robots', 'pages']);
  const { robots = { status: 404 }, pages } = options;
  return { robots: responderOf('robots', robots), pages: pageResponder(pages) };
}

function pageResponder(pages: FakeOriginOptions['pages']): Responder {
  if (pages === undefined) return () => 'a page';
  if (typeof pages === 'function') {
    return async (request) => {
      const response = await pages(request);
      if (response !== undefined)
        assertResponse(`the response of \`pages\` to ${quote(request.path)}`, response);
      return response;
    };
  }
  const scripts = new Map(
    Object.entries(pages).map(([path, script]) => [path, responderOf(`pages[${quote(path)}]`, script)]),
  );
  return (request) => scripts.get(request.path)?.(request);
}

function responderOf(name: string, script: FakeScript): Responder {
  const responses = isList(script) ? script : [script];
  if (responses.length === 0) {
    throw new RobotsInvalidOptionsError(`Expected \`${name}\` to hold at least one response, got none`);
  }
  responses.forEach((response, at) => assertResponse(`\`${name}\`, response ${at + 1},`, response));
  let taken = 0;
  return () => responses[Math.min(taken++, responses.length - 1)];
}

/** `Array.isArray` does not narrow readonly arrays. */
function isList(script: FakeScript): script is readonly FakeResponse[] {
  return Array.isArray(script);
}

function assertResponse(what: string, response: unknown): void {
  const expected = expectedResponse(response);
  if (expected === undefined) return;
  throw new RobotsInvalidOptionsError(
    `Expected ${what} to be ${expected}, got ${quote(JSON.stringify(response))}`,
  );
}
