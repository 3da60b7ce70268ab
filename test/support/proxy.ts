import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';

/** An HTTP proxy on 127.0.0.1 that tunnels wherever it is asked to (`CONNECT`). */
export interface Proxy {
  readonly origin: string;
  /** Tunnels that were asked for so far. */
  tunnels(): number;
  close(): Promise<void>;
}

export async function startProxy(): Promise<Proxy> {
  const server = createServer();
  let tunnels = 0;
  server.on('connect', ({ url = '' }, client, head) => {
    tunnels += 1;
    const { hostname, port } = new URL(`http://${url}`);
    const site = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      site.write(head);
      site.pipe(client).pipe(site);
    });
    site.on('error', () => client.destroy());
    client.on('error', () => site.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    tunnels: () => tunnels,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
