import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Identity } from './certificates.ts';

/** What a site was asked. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** A server on 127.0.0.1, on a port of its own. */
export interface Site extends AsyncDisposable {
  readonly origin: string;
  /** `origin` + `path`. */
  url(path: string): string;
  /** Every request so far, in order of arrival. */
  readonly requests: SeenRequest[];
  /** TCP connections so far. */
  connections(): number;
  /** Bytes handed to the network so far, on all connections. */
  bytesSent(): number;
  /** Resolves when no connection is left. */
  idle(): Promise<void>;
  /**
   * Resolves when no connection is left that brought a request. After an abort Node's fetch may connect again, and close
   * that connection only four seconds later.
   */
  left(): Promise<void>;
  /** Stops listening and destroys what is still connected. */
  close(): Promise<void>;
}

export interface Answer {
  /** 200 when not given. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
}

/** A redirect. */
export const movedTo = (location: string, status = 302): Answer => ({ status, headers: { location } });

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers by path and query; of a list each request takes the next, the last stays. Any other path is a 404. */
export type Script = Readonly<Record<string, Answer | readonly Answer[]>>;

/** `127.0.0.1` and a port that no server of a test gets by chance, as it may get one that was just closed. */
export const REFUSING_HOST = '127.0.0.1:5';

/** An HTTP server that answers as `plan` says. */
export async function startSite(plan: Handler | Script): Promise<Site> {
  const handler = typeof plan === 'function' ? plan : followScript(plan);
  const requests: SeenRequest[] = [];
  const asked = new Set<Socket>();
  const server = createServer((request, response) => {
    requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
    asked.add(request.socket);
    handler(request, response);
  });
  return listen(server, requests, asked);
}

/** Ends `response` with `answer`. */
export function answer(response: ServerResponse, { status = 200, headers = {}, body = '' }: Answer): void {
  response.writeHead(status, { ...headers });
  response.end(body);
}

/**
 * A TCP server for answers no HTTP server would give, over TLS if it has an `identity`. `handler` is called once per
 * request head.
 */
export async function startRawSite(handler: (socket: Socket) => void, identity?: Identity): Promise<Site> {
  const requests: SeenRequest[] = [];
  const asked = new Set<Socket>();
  const converse = (socket: Socket): void => {
    let received = '';
    // A step after the first would wait for the client's acknowledgement, which comes 40 ms late.
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      const end = received.indexOf('\r\n\r\n');
      if (end === -1) return;
      const [requestLine = '', ...fields] = received.slice(0, end).split('\r\n');
      received = '';
      const [method = '', url = ''] = requestLine.split(' ');
      requests.push({ method, url, headers: Object.fromEntries(fields.map(splitField)) });
      asked.add(socket);
      handler(socket);
    });
  };
  if (identity === undefined) return listen(createTcpServer(converse), requests, asked);
  // A client that does not trust the certificate closes in mid-handshake.
  const server = createTlsServer({ ...identity }, converse).on('tlsClientError', () => {});
  return listen(server, requests, asked, 'https://localhost');
}

function splitField(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

function followScript(script: Script): Handler {
  const taken = new Map<string, number>();
  return (request, response) => {
    const path = request.url ?? '';
    const step = script[path];
    if (step === undefined) {
      answer(response, { status: 404 });
      return;
    }
    const answers: readonly Answer[] = 'length' in step ? step : [step];
    const index = Math.min(taken.get(path) ?? 0, answers.length - 1);
    taken.set(path, index + 1);
    answer(response, answers[index] ?? { status: 404 });
  };
}

async function listen(
  server: Server,
  requests: SeenRequest[],
  asked: ReadonlySet<Socket>,
  at = 'http://127.0.0.1',
): Promise<Site> {
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  let connections = 0;
  let bytesSentBefore = 0;
  const notifyIfIdle = (): void => {
    if (sockets.size === 0) for (const resolve of waiting) resolve();
  };
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      bytesSentBefore += socket.bytesWritten;
      sockets.delete(socket);
      notifyIfIdle();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = addressOf(server);
  const origin = `${at}:${port}`;
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    origin,
    url: (path) => origin + path,
    requests,
    connections: () => connections,
    bytesSent: () => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, bytesSentBefore),
    idle: () =>
      new Promise((resolve) => {
        waiting.add(resolve);
        notifyIfIdle();
      }),
    left: async () => {
      for (const socket of asked) {
        if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('The server does not listen on a port');
  return address;
}
