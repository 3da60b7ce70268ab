import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that systems give to requests for any port (49152 up by RFC 6335 §6, 32768 up on Linux). */
const FIRST = 12_000;
const COUNT = 10_000;

/**
 * A port of 127.0.0.1 for a server that has to be told one. No other process gets it by chance meanwhile, nor while the
 * server is being started again; nor the one 10,000 further on, where the bus of a Redis Cluster node is.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch {
    return false;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
