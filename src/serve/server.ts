import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setMaxListeners } from 'node:events';
import { quote } from '../base/index.ts';
import { type AllowedHosts, assertOwnSite } from './allowed-hosts.ts';
import { Exchange } from './exchange.ts';
import type { Service } from './service.ts';
import { Problem, problemOf } from './problem.ts';
import { problemReply, type Reply, sendReply, unexpected } from './reply.ts';
import { type Route, routes } from './routes.ts';

/** Idle connections are closed after this time. It is longer than the deadline of any fetch. */
const IDLE_MS = 120_000;
/** Time that requests in progress have to finish when the service ends. */
const GRACE_MS = 15_000;

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly hosts: AllowedHosts;
  readonly service: Service;
  /** Receives unexpected errors. */
  readonly onError: (error: unknown) => void;
}

/** A listening service. */
export interface RunningServer {
  /** URL of the service: `http://127.0.0.1:8309/`. */
  readonly url: string;
  /** Stops accepting connections, and resolves when the requests in progress have been answered. */
  close(): Promise<void>;
}

/** Starts the service. Rejects when it cannot listen on the address. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { service } = options;
  const openExchanges = new OpenExchanges();
  // No limit on the duration of a body, because a stream of questions may last; idle connections are closed below.
  const server = createServer({ requestTimeout: 0, headersTimeout: 10_000 }, (request, response) => {
    answer(new Exchange(request, response, service), openExchanges, options);
  });
  server.timeout = IDLE_MS;
  server.maxConnections = 1_024;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port }, resolve);
  });
  server.on('error', options.onError);
  setMaxListeners(0, service.stopping);
  service.stopping.addEventListener('abort', () => openExchanges.endAfterwards(), { once: true });
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

function answer(
  exchange: Exchange,
  openExchanges: OpenExchanges,
  { hosts, service, onError }: ServerOptions,
): void {
  const startedAt = performance.now();
  const { request, response, path } = exchange;
  // A request that the peer cut off emits an error, which needs no handling.
  request.on('error', () => undefined);
  openExchanges.add(exchange);
  response.on('close', () => {
    openExchanges.remove(exchange);
    const route = routes.has(path) ? path : 'none';
    const { method = '' } = request;
    const known = METHODS.has(method) ? method : 'other';
    service.metrics?.answered(route, known, response.statusCode, performance.now() - startedAt);
  });
  const reply = (whole: Reply | undefined): void => {
    if (whole === undefined) return;
    sendReply(exchange, whole);
    // Ends a response that nobody reads. Node restarts the timeout when the peer accepts data or sends a new request.
    response.setTimeout(service.limits.stalledMs);
  };
  const fail = (error: unknown): void => {
    if (exchange.isOver) return;
    const problem = problemOf(error);
    if (problem === undefined) onError(error);
    // A response that has begun cannot change its status, so the connection is destroyed.
    if (response.headersSent) response.destroy();
    else sendReply(exchange, problemReply(problem ?? unexpected(error)));
  };
  try {
    hosts.assert(request);
    assertOwnSite(request, path);
    const handled = handlerFor(path, request)(exchange);
    // Cached answers are synchronous: no promise is created for them.
    if (handled instanceof Promise) handled.then(reply).catch(fail);
    else reply(handled);
  } catch (error) {
    fail(error);
  }
}

/** Exchanges in progress, by connection. */
class OpenExchanges {
  private readonly byConnection = new Map<Socket, Set<Exchange>>();

  add(exchange: Exchange): void {
    const { socket } = exchange.request;
    const exchanges = this.byConnection.get(socket);
    if (exchanges !== undefined) {
      exchanges.add(exchange);
      return;
    }
    const first = new Set([exchange]);
    this.byConnection.set(socket, first);
    // A pipelined response that waits for its turn emits no `close` when the connection closes.
    socket.once('close', () => {
      this.byConnection.delete(socket);
      for (const each of first) each.leave();
    });
  }

  remove(exchange: Exchange): void {
    this.byConnection.get(exchange.request.socket)?.delete(exchange);
    exchange.leave();
  }

  /** Closes each connection after its responses, without another request. */
  endAfterwards(): void {
    for (const exchanges of this.byConnection.values()) {
      for (const exchange of exchanges) exchange.endAfterwards();
    }
  }
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function handlerFor(path: string, { method = '' }: IncomingMessage): Route['GET'] {
  const route = routes.get(path);
  if (route === undefined) {
    throw new Problem(
      404,
      'ERR_ROBOTS_NOT_FOUND',
      `Expected a known path, got ${quote(path)}; /openapi.json lists them`,
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
