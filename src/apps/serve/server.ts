import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setMaxListeners } from 'node:events';
import { quote, VERSION } from '../../core/base/index.ts';
import { checkMany, checkOne, explain, policy } from './questions.ts';
import { askPage, iconPage, stylePage, tryFile, tryPage } from './page.ts';
import { type AllowedHosts, assertOwnSite } from './own-site.ts';
import { onlyKnown } from './request.ts';
import { done, reserve } from './reserve.ts';
import { Exchange, type Service } from './exchange.ts';
import {
  type Handler,
  JSON_TYPE,
  Problem,
  problemOf,
  problemReply,
  type Reply,
  sendReply,
  unexpected,
} from './reply.ts';

export interface RouteHandlers {
  /** Handles GET and HEAD. */
  readonly GET?: Handler;
  readonly POST?: Handler;
}

const health: Handler = ({ query }) => {
  onlyKnown(query, []);
  return { type: JSON_TYPE, body: JSON.stringify({ status: 'ok', version: VERSION }) };
};

const metrics: Handler = async ({ query, service }) => {
  onlyKnown(query, []);
  if (service.metrics === undefined) {
    throw new Problem(
      501,
      'ERR_ROBOTS_NO_METRICS',
      'Expected the package prom-client to be installed; run `npm install prom-client` and restart the service',
    );
  }
  const { registry } = service.metrics;
  return { type: registry.contentType, body: await registry.metrics() };
};

/** All paths of the service. */
export const routes: ReadonlyMap<string, RouteHandlers> = new Map<string, RouteHandlers>([
  ['/v1/check', { GET: checkOne, POST: checkMany }],
  ['/v1/policy', { GET: policy }],
  ['/v1/explain', { GET: explain }],
  ['/v1/reserve', { POST: reserve }],
  ['/v1/done', { POST: done }],
  ['/metrics', { GET: metrics }],
  ['/healthz', { GET: health }],
  ['/page/style.css', { GET: stylePage }],
  ['/page/icon.svg', { GET: iconPage }],
  ['/', { GET: askPage }],
  ['/try', { GET: tryPage, POST: tryFile }],
]);

/** Time that requests in progress have to finish when the service ends. */
const GRACE_MS = 15_000;
/** Interval of the check for late header sections. The default of Node is 30 s. */
const CHECK_MS = 1_000;

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly hosts: AllowedHosts;
  readonly service: Service;
  /** Receives unexpected errors. */
  readonly onError: (error: unknown) => void;
  /** Receives each request when it is over, and the milliseconds that it took. */
  readonly onAnswered: (exchange: Exchange, durationMs: number) => void;
}

/** A listening service. */
export interface RunningServer {
  /** URL of the service: `http://127.0.0.1:8309/`. */
  readonly url: string;
  /** Stops accepting connections, and resolves when the requests in progress have their responses. */
  close(): Promise<void>;
}

/** Starts the service. Rejects when it cannot listen on the address. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { service } = options;
  const { headersMs: headersTimeout, idleMs } = service.limits;
  /** Connections on which no request has come: some browsers open one in advance. */
  const unused = new Set<Socket>();
  // A stream of questions may last, so what reads a bounded body limits its time.
  const timeouts = { headersTimeout, connectionsCheckingInterval: CHECK_MS, requestTimeout: 0 };
  const server = createServer(timeouts, (request, response) => {
    const { socket } = request;
    // Node still emits requests that it has read from a closed connection.
    if (socket.destroyed) return;
    unused.delete(socket);
    // A request that the peer cut off emits an error, which needs no handling.
    request.on('error', () => undefined);
    answer(new Exchange(request, response, service), options);
  });
  server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
    // Each pipelined request listens for the end of its connection.
    socket.setMaxListeners(0);
  });
  server.timeout = idleMs;
  server.maxConnections = 1_024;
  server.maxRequestsPerSocket = 1_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port }, resolve);
  });
  server.on('error', options.onError);
  setMaxListeners(0, service.stopping);
  return { url: urlOf(server), close: () => close(server, unused) };
}

function urlOf(server: Server): string {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string')
    throw new TypeError('Expected the address of a socket');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}/`;
}

function close(server: Server, unused: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    // By then every request that has arrived has begun.
    setImmediate(() => {
      for (const socket of unused) socket.destroy();
    });
    const last = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    server.close(() => {
      clearTimeout(last);
      resolve();
    });
  });
}

function answer(exchange: Exchange, { hosts, service, onError, onAnswered }: ServerOptions): void {
  const startedAt = performance.now();
  const { request, response, path } = exchange;
  const { socket } = request;
  const leave = (): void => exchange.leave();
  // A pipelined response that waits for its turn emits no `close` when the connection closes.
  socket.once('close', leave);
  response.on('close', () => {
    socket.off('close', leave);
    leave();
    const route = routes.has(path) ? path : 'none';
    // Node's parser knows some forty methods.
    const { method = '' } = request;
    const durationMs = performance.now() - startedAt;
    service.metrics?.answered(route, method, response.statusCode, durationMs);
    onAnswered(exchange, durationMs);
  });
  const reply = (whole: Reply | undefined): void => {
    if (whole !== undefined) sendReply(exchange, whole);
  };
  const fail = (error: unknown): void => {
    if (exchange.signal.aborted) return;
    const problem = problemOf(error);
    if (problem === undefined) onError(error);
    // A response that has begun cannot change its status, so the connection is destroyed.
    if (response.headersSent) response.destroy();
    else reply(problemReply(problem ?? unexpected(error)));
  };
  try {
    hosts.assert(request);
    assertOwnSite(request, path);
    const handled = handlerFor(path, request)(exchange);
    // Decisions from memory are synchronous: no promise is created for them.
    if (handled instanceof Promise) handled.then(reply).catch(fail);
    else reply(handled);
  } catch (error) {
    fail(error);
  }
}

function handlerFor(path: string, { method = '' }: IncomingMessage): Handler {
  const route = routes.get(path);
  if (route === undefined) {
    throw new Problem(
      404,
      'ERR_ROBOTS_NOT_FOUND',
      `Expected one of the paths ${[...routes.keys()].join(', ')}, got ${quote(path)}`,
    );
  }
  const handler =
    method === 'POST' ? route.POST : method === 'GET' || method === 'HEAD' ? route.GET : undefined;
  if (handler !== undefined) return handler;
  const allow = [...(route.GET ? ['GET', 'HEAD'] : []), ...(route.POST ? ['POST'] : [])].join(', ');
  throw new Problem(
    405,
    'ERR_ROBOTS_METHOD_NOT_ALLOWED',
    `Expected ${allow.replace(/, (\w+)$/, ' or $1')}, got ${method}`,
    {
      headers: { allow },
    },
  );
}
