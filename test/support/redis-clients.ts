import { Redis } from 'ioredis';
import { Redis as Valkey } from 'iovalkey';
import { createClient, createClientPool } from 'redis';
import type { RedisConnection } from '../../src/stores/redis/connection.ts';

/** A connection with a client library, and how it ends. */
export interface OpenConnection {
  readonly connection: RedisConnection;
  /** How many listeners there are, by event. */
  listeners(): Record<string, number>;
  close(): Promise<void>;
}

interface Emitter {
  eventNames(): (string | symbol)[];
  listenerCount(event: string | symbol): number;
}

const listenersOf = (emitter: Emitter) => (): Record<string, number> =>
  Object.fromEntries(emitter.eventNames().map((name) => [String(name), emitter.listenerCount(name)]));

const overIoredis =
  (enableAutoPipelining: boolean) =>
  async (url: string): Promise<OpenConnection> => {
    const connection = new Redis(url, { enableAutoPipelining });
    return {
      connection,
      listeners: listenersOf(connection),
      close: async () => void (await connection.quit()),
    };
  };

/** One of each client library that there is a promise about, by name. */
export const redisClients: Readonly<Record<string, (url: string) => Promise<OpenConnection>>> = {
  ioredis: overIoredis(false),
  iovalkey: async (url) => {
    const connection = new Valkey(url);
    return {
      connection,
      listeners: listenersOf(connection),
      close: async () => void (await connection.quit()),
    };
  },
  'node-redis': async (url) => {
    const connection = await createClient({ url }).connect();
    return { connection, listeners: listenersOf(connection), close: () => connection.close() };
  },
};

/** Other settings of them. */
export const redisClientsByOtherSettings: typeof redisClients = {
  'ioredis with automatic pipelines': overIoredis(true),
  'node-redis, RESP 2, all replies as bytes': async (url) => {
    const connection = await createClient({
      url,
      RESP: 2,
      commandOptions: { typeMapping: { 36: Buffer, 58: String } },
    }).connect();
    return { connection, listeners: listenersOf(connection), close: () => connection.close() };
  },
  'node-redis, a pool': async (url) => {
    const connection = createClientPool({ url });
    await connection.connect();
    return { connection, listeners: listenersOf(connection), close: () => connection.close() };
  },
};
