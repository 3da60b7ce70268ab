import { createConnection } from 'node:net';

/** Asks a server over connections that are kept, and tells how long it took. In a process of its own. */
export interface Load {
  readonly port: number;
  readonly paths: readonly string[];
  readonly connections: number;
  readonly requests: number;
}

process.on('message', (load: Load) => void run(load).then((ms) => process.send?.(ms)));
process.once('disconnect', () => process.exit());
process.send?.(0);

async function run({ port, paths, connections, requests }: Load): Promise<number> {
  const asked = paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`));
  const started = performance.now();
  let next = 0;
  const connection = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = createConnection({ port, host: '127.0.0.1', noDelay: true });
      let received: Buffer = Buffer.alloc(0);
      const ask = (): void => {
        if (next >= requests) socket.end(resolve);
        else socket.write(asked[next++ % asked.length]!);
      };
      socket.on('connect', ask);
      socket.on('error', reject);
      socket.on('data', (chunk: Buffer) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        const head = received.indexOf('\r\n\r\n');
        if (head < 0) return;
        const fields = received.toString('latin1', 0, head);
        const length = Number(/content-length: (\d+)/i.exec(fields)?.[1]);
        if (!fields.startsWith('HTTP/1.1 200 ') || Number.isNaN(length)) {
          reject(new Error(`Expected 200 with a length, got\n${received.toString()}`));
        } else if (received.length >= head + 4 + length) {
          received = received.subarray(head + 4 + length);
          ask();
        }
      });
    });
  await Promise.all(Array.from({ length: connections }, connection));
  return performance.now() - started;
}
