import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';

/** A `redis-server` of this test's own, on a loopback port, that keeps nothing on disk. */
export interface RedisServer extends AsyncDisposable {
  readonly port: number;
  /** `redis://127.0.0.1:<port>` */
  readonly url: string;
  /** Sends a command, over a connection of its own. */
  command(...args: string[]): Promise<unknown>;
  /** SIGSTOP: connections stay open, nothing is answered. */
  pause(): void;
  /** SIGCONT */
  resume(): void;
  /** SIGKILL: connections break, and the port is closed. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with nothing in it. */
  restart(): Promise<void>;
  /** From here on it refuses to take more, with `OOM`. */
  fill(): Promise<void>;
  /** From here on it refuses writes, with `READONLY`: a replica of a server that is not there. */
  makeReplica(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server with further `redis-server` arguments. */
export async function startRedis(...args: string[]): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'canfetch-redis-'));
  const port = await freePort();
  let server = await launch(port, folder, args);

  const command = async (...words: string[]): Promise<unknown> => {
    const connection = new Redis(port, { lazyConnect: true, retryStrategy: () => null });
    try {
      await connection.connect();
      const [name = '', ...rest] = words;
      return await connection.call(name, ...rest);
    } finally {
      connection.disconnect();
    }
  };
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill('SIGKILL');
    await exited;
  };
  const stop = async (): Promise<void> => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  };

  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    command,
    pause: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    kill,
    async restart() {
      await kill();
      server = await launch(port, folder, args);
    },
    async fill() {
      await command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
      // Less than it needs for itself; with a megabyte it depends on the buffers of the moment.
      await command('CONFIG', 'SET', 'maxmemory', '1');
    },
    async makeReplica() {
      await command('REPLICAOF', '127.0.0.1', '1');
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** One node that owns all slots, told by the address that clients know it by. */
export async function startRedisCluster(): Promise<RedisServer> {
  const server = await startRedis('--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1');
  await server.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  for (let state = ''; !state.includes('cluster_state:ok');) {
    state = String(await server.command('CLUSTER', 'INFO'));
  }
  return server;
}

/** A Sentinel that watches `master`, by the name `main`. */
export async function startSentinel(master: RedisServer): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'canfetch-sentinel-'));
  const configuration = join(folder, 'sentinel.conf');
  writeFileSync(configuration, `sentinel monitor main 127.0.0.1 ${master.port} 1\n`);
  const sentinel = await startRedis(configuration, '--sentinel');
  const stop = async (): Promise<void> => {
    await sentinel.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { ...sentinel, stop, [Symbol.asyncDispose]: stop };
}

async function launch(port: number, folder: string, args: readonly string[]): Promise<ChildProcess> {
  const quiet = ['--save', '', '--appendonly', 'no', '--dir', folder];
  // A configuration file comes first.
  const server = spawn('redis-server', [...args, '--port', String(port), '--bind', '127.0.0.1', ...quiet], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Not even a test that is broken off leaves it running.
  const end = (): void => void server.kill('SIGKILL');
  process.once('exit', end);
  server.once('exit', () => process.off('exit', end));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`redis-server ended at once:\n${output}`)));
    server.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (/Ready to accept connections|\+monitor master/.test(output)) resolve();
    });
  });
  return server;
}
