import { createRequire } from 'node:module';
import { isRobotsError, RobotsInvalidOptionsError } from '../../base/index.ts';
import { type RedisConnection, type RedisStore, redisStore } from '../../store/redis/redis.ts';

/** A store on a Redis or Valkey server, with the connection that was opened for it. */
export interface OpenedRedisStore {
  readonly store: RedisStore;
  close(): Promise<void>;
}

interface OpenedConnection {
  readonly connection: RedisConnection;
  readonly close: () => void;
}

/** The part of node-redis that is used. */
interface NodeRedis {
  createClient(options: {
    readonly url: string;
    readonly disableOfflineQueue: true;
    readonly socket: {
      readonly connectTimeout: number;
      readonly reconnectStrategy: (retries: number) => number | false;
    };
  }): RedisConnection & {
    readonly isOpen: boolean;
    on(event: 'error', listener: (error: unknown) => void): unknown;
    connect(): Promise<unknown>;
    destroy(): void;
  };
}

/** The part of ioredis and of iovalkey that is used. */
interface Ioredis {
  readonly Redis: new (
    url: string,
    options: {
      readonly lazyConnect: true;
      readonly enableOfflineQueue: false;
      readonly connectTimeout: number;
      readonly retryStrategy: (times: number) => number | null;
    },
  ) => RedisConnection & {
    on(event: 'error', listener: (error: unknown) => void): unknown;
    connect(): Promise<unknown>;
    disconnect(): void;
  };
}

const CONNECT_TIMEOUT_MS = 5_000;
const LONGEST_PAUSE_MS = 2_000;

/** The packages that open a connection. */
const LOADERS: Readonly<Record<string, () => NodeRedis | Ioredis>> = {
  redis: () => createRequire(import.meta.url)('redis'),
  ioredis: () => createRequire(import.meta.url)('ioredis'),
  iovalkey: () => createRequire(import.meta.url)('iovalkey'),
};

/**
 * Opens a store on the server at `url`, over the first of `packages` that the user has installed. A server that cannot be
 * reached now is an error. If the connection is lost later, it is made again; until then calls of the store fail.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when no client is installed, or when the connection
 * fails.
 */
export async function openRedisStore(
  url: string,
  packages: readonly string[] = Object.keys(LOADERS),
): Promise<OpenedRedisStore> {
  const { connection, close } = await connect(url, packages);
  return { store: redisStore(connection), close: async () => close() };
}

function connect(url: string, packages: readonly string[]): Promise<OpenedConnection> {
  for (const name of packages) {
    const library = load(name);
    if (library === undefined) continue;
    // ioredis has a `createClient` too.
    return 'Redis' in library ? connectIoredis(library, url) : connectNodeRedis(library, url);
  }
  throw new RobotsInvalidOptionsError(
    `Expected one of the packages ${packages.map((name) => `\`${name}\``).join(', ')} to be installed, ` +
      `which connect to Redis; run \`npm install ${packages[0]}\``,
  );
}

function load(name: string): NodeRedis | Ioredis | undefined {
  try {
    return LOADERS[name]?.();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

async function connectNodeRedis({ createClient }: NodeRedis, url: string): Promise<OpenedConnection> {
  let hasConnected = false;
  return connected(url, async (onError) => {
    const client = createClient({
      url,
      // While the server is away, calls fail at once instead of waiting in memory.
      disableOfflineQueue: true,
      socket: {
        connectTimeout: CONNECT_TIMEOUT_MS,
        reconnectStrategy: (retries) => hasConnected && pauseMs(retries),
      },
    });
    client.on('error', onError);
    await client.connect();
    hasConnected = true;
    return { connection: client, close: () => client.isOpen && client.destroy() };
  });
}

async function connectIoredis({ Redis }: Ioredis, url: string): Promise<OpenedConnection> {
  let hasConnected = false;
  return connected(url, async (onError) => {
    const client = new Redis(url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      connectTimeout: CONNECT_TIMEOUT_MS,
      retryStrategy: (times) => (hasConnected ? pauseMs(times) : null),
    });
    client.on('error', onError);
    await client.connect();
    hasConnected = true;
    return { connection: client, close: () => client.disconnect() };
  });
}

const pauseMs = (retries: number): number => Math.min(50 * 2 ** Math.min(retries, 10), LONGEST_PAUSE_MS);

async function connected(
  url: string,
  open: (onError: (error: unknown) => void) => Promise<OpenedConnection>,
): Promise<OpenedConnection> {
  // ioredis rejects with "Connection is closed.", and tells the reason in an event.
  let reason: unknown;
  try {
    return await open((error) => (reason ??= error));
  } catch (error) {
    if (isRobotsError(error)) throw error;
    const cause = reason ?? error;
    throw new RobotsInvalidOptionsError(
      `Expected a Redis or Valkey server at ${withoutCredentials(url)}: ${messageOf(cause)}; check that it runs, and the URL`,
      { cause },
    );
  }
}

/** A URL for people: passwords do not belong into logs. */
function withoutCredentials(url: string): string {
  return url.replace(/^([a-z]+:\/\/)[^/]*@/i, '$1');
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
