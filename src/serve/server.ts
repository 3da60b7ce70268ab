import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setMaxListeners } from 'node:events';
import { BrokenPipeError } from '../report/text/index.ts';
import { type AllowedHosts, assertOwnSite } from './allowed-hosts.ts';
import type { Exchange, Reply, Service } from './handler.ts';
import { Problem, problemOf } from './problem.ts';
import { type Route, routes } from './routes.ts';

/** A connection on which nothing moves for so long is ended: longer than any origin has to answer. */
const IDLE_MS = 120_000;
/** What is under way when the service is told to end has so long. */
const GRACE_MS = 15_000;

/** Nothing but our own files, and nobody may frame us. `require-trusted-types-for`: no text becomes markup. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Of every answer. */
const HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly hosts: AllowedHosts;
  readonly service: Service;
  /** Takes what should not have happened. */
  readonly onError: (error: unknown) => void;
}

/** A service that listens. */
export interface RunningServer {
  /** Where it is: `http://127.0.0.1:8309/`. */
  readonly url: string;
  /** Takes no more connections, and resolves when what is under way has been answered. */
  close(): Promise<void>;
}

/** Listens. Rejects when the address cannot be listened on. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { service } = options;
  const server = createServer({ requestTimeout: 0, headersTimeout: 10_000 }, (request, response) => {
    // A body may come for as long as it likes, as long as it comes.
    void answer(request, response, options);
  });
  server.timeout = IDLE_MS;
  server.maxConnections = 1_024;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port }, resolve);
  });
  server.on('error', options.onError);
  setMaxListeners(0, service.stopping);
  return { url: urlOf(server), close: () => close(server) };
}

function urlOf(server: Server): string {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string')
    throw new TypeError('Expected the address of a socket');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}/`;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const last = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    server.close(() => {
      clearTimeout(last);
      resolve();
    });
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { hosts, service, onError }: ServerOptions,
): Promise<void> {
  const startedAt = performance.now();
  const gone = new AbortController();
  // Many questions of one stream listen to it.
  setMaxListeners(0, gone.signal);
  // What is read of a request that was cut off has nobody to fail for.
  request.on('error', () => undefined);
  const path = pathOf(request);
  const leave = (): void => gone.abort(new BrokenPipeError());
  // A pipelined answer that waits for its turn is not closed with its connection.
  request.socket.once('close', leave);
  response.on('close', () => {
    request.socket.off('close', leave);
    leave();
    const route = routes.has(path) ? path : 'none';
    service.metrics?.answered(
      route,
      METHODS.has(request.method ?? '') ? request.method! : 'other',
      response.statusCode,
      performance.now() - startedAt,
    );
  });
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  if (service.stopping.aborted) response.setHeader('connection', 'close');
  else
    service.stopping.addEventListener('abort', () => endAfterwards(response), {
      signal: gone.signal,
    });
  try {
    hosts.assert(request);
    assertOwnSite(request, path);
    const exchange: Exchange = {
      request,
      response,
      query: queryOf(request),
      service,
      signal: gone.signal,
    };
    const reply = await handlerFor(path, request)(exchange);
    if (reply !== undefined) {
      send(request, response, reply);
      // Node counts what the other side takes as activity, and sets its own time-out for the next request.
      response.setTimeout(service.limits.stalledMs);
    }
  } catch (error) {
    if (gone.signal.aborted) return;
    const problem = problemOf(error);
    if (problem === undefined) onError(error);
    // An answer that has begun cannot become another one: it ends where it is.
    if (response.headersSent) response.destroy();
    else send(request, response, problemReply(problem ?? unexpected(error)));
  }
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The connection is not kept for another request. */
function endAfterwards(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
  // A finished response has let go of its socket.
  const { socket } = response.req;
  response.once('finish', () => socket.destroySoon());
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
}

function handlerFor(path: string, { method = '' }: IncomingMessage): Route['GET'] {
  const route = routes.get(path);
  if (route === undefined) {
    throw new Problem(
      404,
      'ERR_ROBOTS_NOT_FOUND',
      'Expected a path that there is; /openapi.json describes them',
    );
  }
  if (method === 'GET' || method === 'HEAD') return route.GET;
  if (method === 'POST' && route.POST !== undefined) return route.POST;
  const allow = route.POST === undefined ? 'GET, HEAD' : 'GET, HEAD, POST';
  throw new Problem(
    405,
    'ERR_ROBOTS_METHOD_NOT_ALLOWED',
    `Expected ${allow.replace(/, (\w+)$/, ' or $1')}, got ${method}`,
    {
      headers: { allow },
    },
  );
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status = 200, type, body, headers }: Reply,
): void {
  response.writeHead(status, {
    ...headers,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    // What is left of a body that nobody reads would have to be read before the next request.
    ...(request.complete || request.method === 'GET' || request.method === 'HEAD'
      ? {}
      : { connection: 'close' }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

function problemReply(problem: Problem): Reply {
  const { status, headers } = problem;
  return {
    status,
    headers,
    type: 'application/problem+json',
    body: JSON.stringify(problem),
  };
}

/** What it was is for who runs the service, not for who asks. */
function unexpected(cause: unknown): Problem {
  return new Problem(
    500,
    'ERR_ROBOTS_INTERNAL',
    'Something broke that should not have; the service has told why on its standard error',
    { cause },
  );
}
