import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';

/** Hands on what a server on this machine says, as late as it is told. */
export interface SlowProxy extends AsyncDisposable {
  readonly url: string;
  /** How late answers are from now on. */
  delayMs: number;
}

export async function startSlowProxy(port: number): Promise<SlowProxy> {
  const sockets = new Set<Socket>();
  const kept = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket.on('error', () => undefined);
  };
  const server = createServer((client) => {
    const upstream = kept(createConnection(port, '127.0.0.1'));
    kept(client).pipe(upstream);
    upstream.on('data', (chunk) => {
      setTimeout(() => void (client.destroyed || client.write(chunk)), proxy.delayMs);
    });
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy does not listen on a port');
  const proxy: SlowProxy = {
    url: `redis://127.0.0.1:${address.port}`,
    delayMs: 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
