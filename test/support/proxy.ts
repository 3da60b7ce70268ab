import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** What a proxy was asked to connect to. */
export interface Tunnel {
  /** `host:port` */
  readonly authority: string;
  /** `Proxy-Authorization`, as it came. */
  readonly authorization: string | undefined;
}

/** An HTTP proxy that knows no request but CONNECT, and to which every host is at 127.0.0.1. */
export interface Proxy extends AsyncDisposable {
  readonly url: string;
  readonly tunnels: readonly Tunnel[];
}

export async function startProxy(): Promise<Proxy> {
  const tunnels: Tunnel[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connection', keep);
  server.on('connect', (request, client: Socket) => {
    const authority = request.url ?? '';
    tunnels.push({ authority, authorization: request.headers['proxy-authorization'] });
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
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
