import { createRequire } from 'node:module';
import { isRobotsError, RobotsInvalidOptionsError } from '../../../core/base/index.ts';
import { type RedisConnection, type RedisStore, redisStore } from '../../../stores/redis/redis.ts';
import { installLine, type RedisUrl, readRedisUrl } from './store-option.ts';

/** A store on a Redis or Valkey server, with the connection that was opened for it. */
export interface OpenedRedisStore {
  readonly store: RedisStore;
  close(): Promise<void>;
}

/** A client of one of the packages. */
interface Client {
  readonly connection: RedisConnection;
  connect(): Promise<unknown>;
  /** Rejects when the server does not have the database. */
  select(database: number): Promise<unknown>;
  close(): void;
}

/** What a client is made with. */
interface ClientSettings {
  readonly url: string;
  /** The pause before a lost connection is made again; `undefined` until it was made once: a first failure is final. */
  readonly pauseMs: (retries: number) => number | undefined;
  readonly onError: (error: unknown) => void;
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
    select(database: number): Promise<unknown>;
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
    select(database: number): Promise<unknown>;
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
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the URL is wrong, when no client is installed,
 * when the connection fails or takes longer than five seconds, or when the server does not have the database.
 */
export async function openRedisStore(
  url: string,
  packages: readonly string[] = Object.keys(LOADERS),
): Promise<OpenedRedisStore> {
  const client = await connect(readRedisUrl(url), clientOf(packages));
  return { store: redisStore(client.connection), close: async () => client.close() };
}

/** How to make a client with the first of `packages` that is installed. */
function clientOf(packages: readonly string[]): (settings: ClientSettings) => Client {
  for (const name of packages) {
    const library = load(name);
    if (library === undefined) continue;
    // ioredis has a `createClient` too.
    return (settings) => ('Redis' in library ? ioredis(library, settings) : nodeRedis(library, settings));
  }
  throw new RobotsInvalidOptionsError(
    `Expected one of the packages ${packages.map((name) => `\`${name}\``).join(', ')} to be installed, ` +
      `which connect to Redis; run \`${installLine(packages[0] ?? 'redis')}\``,
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

function nodeRedis({ createClient }: NodeRedis, { url, pauseMs, onError }: ClientSettings): Client {
  const client = createClient({
    url,
    // While the server is away, calls fail at once instead of waiting in memory.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectStrategy: (retries) => pauseMs(retries) ?? false,
    },
  });
  // Refuses an unsupported version before there is a connection.
  redisStore(client);
  client.on('error', onError);
  return {
    connection: client,
    connect: () => client.connect(),
    select: (database) => client.select(database),
    close: () => {
      if (client.isOpen) client.destroy();
    },
  };
}

function ioredis({ Redis }: Ioredis, { url, pauseMs, onError }: ClientSettings): Client {
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: (times) => pauseMs(times) ?? null,
  });
  client.on('error', onError);
  return {
    connection: client,
    connect: () => client.connect(),
    select: (database) => client.select(database),
    close: () => client.disconnect(),
  };
}

async function connect(
  { url, shown, database }: RedisUrl,
  clientWith: (settings: ClientSettings) => Client,
): Promise<Client> {
  let hasConnected = false;
  // ioredis rejects with "Connection is closed.", and reports the reason in an event.
  let reported: unknown;
  const pauseMs = (retries: number): number | undefined =>
    hasConnected ? Math.min(50 * 2 ** Math.min(retries, 10), LONGEST_PAUSE_MS) : undefined;
  let client: Client | undefined;
  try {
    client = clientWith({ url, pauseMs, onError: (error) => (reported ??= error) });
    await withinConnectTimeout(connectTo(client, database));
    // If the server lacks the database of the query, ioredis only reports that, and uses number 0.
    if (reported !== undefined) throw reported;
    hasConnected = true;
    return client;
  } catch (error) {
    if (isRobotsError(error)) throw error;
    client?.close();
    const reason = reported ?? error;
    throw new RobotsInvalidOptionsError(
      `Expected a Redis or Valkey server at ${shown}: ${messageOf(reason)}; check that it runs, and the URL`,
      isFromSystem(reason) ? { cause: reason } : {},
    );
  }
}

async function connectTo(client: Client, database: number): Promise<void> {
  await client.connect();
  // ioredis uses database 0 when the server does not have the one in the URL.
  if (database !== 0) await client.select(database);
}

/** The time-out of the clients limits only the connection, not the first replies. */
async function withinConnectTimeout(connecting: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new Error(`no answer within ${CONNECT_TIMEOUT_MS / 1000} seconds`);
    timer = setTimeout(() => reject(error), CONNECT_TIMEOUT_MS);
  });
  try {
    await Promise.race([connecting, late]);
  } finally {
    clearTimeout(timer);
  }
}

const SYSTEM_FIELDS = new Set<PropertyKey>([
  'stack',
  'message',
  'errno',
  'code',
  'syscall',
  'address',
  'port',
  'hostname',
]);

/**
 * Whether an error holds only what the system reported. Passwords do not belong in logs: `TypeError: Invalid URL` has
 * the URL in its `input`, and an error of ioredis the arguments of AUTH in its `command`.
 */
function isFromSystem(error: unknown): boolean {
  return error instanceof Error && Reflect.ownKeys(error).every((key) => SYSTEM_FIELDS.has(key));
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
