import { createServer, type IncomingMessage, request as send } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { STATUS_CODES } from 'node:http';
import type { Answer } from './site.ts';

/** What a proxy was asked to connect to. */
export interface Tunnel {
  /** `host:port` */
  readonly authority: string;
  /** `Proxy-Authorization`, as it came. */
  readonly authorization: string | undefined;
}

/** An HTTP proxy to which every host is at 127.0.0.1. */
export interface Proxy extends AsyncDisposable {
  readonly url: string;
  readonly tunnels: readonly Tunnel[];
  /** URLs that it was asked for in absolute form, without a tunnel. */
  readonly requests: readonly string[];
}

export interface ProxyOptions {
  /** What it answers every CONNECT and every request with, in the place of the site. */
  readonly refusal?: Answer;
}

export async function startProxy({ refusal }: ProxyOptions = {}): Promise<Proxy> {
  const tunnels: Tunnel[] = [];
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((request, response) => {
    const url = request.url ?? '';
    if (!url.startsWith('http://')) {
      response.writeHead(405).end();
      return;
    }
    requests.push(url);
    if (refusal !== undefined) {
      response.writeHead(refusal.status ?? 200, { ...refusal.headers }).end(refusal.body ?? '');
      return;
    }
    const { port, pathname, search } = new URL(url);
    const onward = send(
      { host: '127.0.0.1', port, path: pathname + search, headers: request.headers, agent: false },
      (answer: IncomingMessage) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    onward.end();
  });
  server.on('connection', keep);
  server.on('connect', (request, client: Socket) => {
    const authority = request.url ?? '';
    tunnels.push({ authority, authorization: request.headers['proxy-authorization'] });
    if (refusal !== undefined) {
      client.end(
        `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status ?? 200]}\r\nContent-Length: 0\r\n\r\n`,
      );
      return;
    }
    const upstream = keep(connect(Number(authority.split(':').at(-1)), '127.0.0.1'));
    upstream.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    upstream.once('close', () => client.destroy());
    client.once('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    tunnels,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
