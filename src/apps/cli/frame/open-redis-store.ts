import { createRequire } from 'node:module';
import { isRobotsError, RobotsInvalidOptionsError } from '../../../core/base/index.ts';
import { type RedisConnection, type RedisStore, redisStore } from '../../../stores/redis/redis.ts';
import { installLine } from './store-option.ts';

/** A store on a Redis or Valkey server, with the connection that was opened for it. */
export interface OpenedRedisStore {
  readonly store: RedisStore;
  close(): Promise<void>;
}

/** The part of the clients that is used, of whichever package. */
type Client = RedisConnection & {
  on(event: 'error', listener: (error: unknown) => void): unknown;
  connect(): Promise<unknown>;
  /** Rejects when the server does not have the database. */
  select(database: number): Promise<unknown>;
};

interface NodeRedis {
  createClient(options: {
    readonly url: string;
    readonly disableOfflineQueue: true;
    readonly socket: {
      readonly connectTimeout: number;
      readonly reconnectStrategy: (retries: number) => number | false;
    };
  }): Client & { readonly isOpen: boolean; destroy(): void };
}

/** Of iovalkey too. */
interface Ioredis {
  readonly Redis: new (
    url: string,
    options: {
      readonly lazyConnect: true;
      readonly enableOfflineQueue: false;
      readonly connectTimeout: number;
      readonly retryStrategy: (times: number) => number | null;
    },
  ) => Client & { disconnect(): void };
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
  const { shown, database } = readRedisUrl(url);
  const library = firstInstalled(packages);
  let hasConnected = false;
  /** The pause before a lost connection is made again; `undefined` until it was made once: a first failure is final. */
  const pauseMs = (retries: number): number | undefined =>
    hasConnected ? Math.min(50 * 2 ** Math.min(retries, 10), LONGEST_PAUSE_MS) : undefined;
  // ioredis rejects with "Connection is closed.", and reports the reason in an event.
  let reported: unknown;
  let close = (): void => {};
  try {
    // ioredis has a `createClient` too.
    const made = 'Redis' in library ? ioredis(library, url, pauseMs) : nodeRedis(library, url, pauseMs);
    close = made.close;
    // Refuses an unsupported version before there is a connection.
    const store = redisStore(made.client);
    made.client.on('error', (error) => (reported ??= error));
    await withinConnectTimeout(connectTo(made.client, database));
    // If the server lacks the database of the query, ioredis only reports that, and uses number 0.
    if (reported !== undefined) throw reported;
    hasConnected = true;
    return { store, close: async () => close() };
  } catch (error) {
    if (isRobotsError(error)) throw error;
    close();
    // Without a cause: `TypeError: Invalid URL` and errors of ioredis hold the password.
    throw new RobotsInvalidOptionsError(
      `Expected a Redis or Valkey server at ${shown}: ${messageOf(reported ?? error)}; check that it runs, and the URL`,
    );
  }
}

function firstInstalled(packages: readonly string[]): NodeRedis | Ioredis {
  for (const name of packages) {
    try {
      const library = LOADERS[name]?.();
      if (library !== undefined) return library;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND')) throw error;
    }
  }
  throw new RobotsInvalidOptionsError(
    `Expected one of the packages ${packages.map((name) => `\`${name}\``).join(', ')} to be installed, ` +
      `which connect to Redis; run \`${installLine(packages[0] ?? 'redis')}\``,
  );
}

interface MadeClient {
  readonly client: Client;
  readonly close: () => void;
}

type Pause = (retries: number) => number | undefined;

function nodeRedis({ createClient }: NodeRedis, url: string, pauseMs: Pause): MadeClient {
  const client = createClient({
    url,
    // While the server is away, calls fail at once instead of waiting in memory.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectStrategy: (retries) => pauseMs(retries) ?? false,
    },
  });
  return { client, close: () => client.isOpen && client.destroy() };
}

function ioredis({ Redis }: Ioredis, url: string, pauseMs: Pause): MadeClient {
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: (times) => pauseMs(times) ?? null,
  });
  return { client, close: () => client.disconnect() };
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

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

/**
 * Reads the number of the database, and the URL for messages: without credentials and query. Messages show no URL from
 * which a password cannot be taken for certain.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
function readRedisUrl(url: string): { readonly shown: string; readonly database: number } {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !hasPlainCredentials(parsed)) {
    throw new RobotsInvalidOptionsError(
      'Expected the URL given to --store to be redis://USER:PASSWORD@HOST:PORT/DATABASE, got another; ' +
        'in a password write % / ? # @ as %25 %2F %3F %23 %40',
    );
  }
  const { protocol, host, pathname } = parsed;
  const server = `${protocol}//${host}`;
  const shown = pathname === '/' ? server : `${server}${pathname}`;
  if (!/^(?:\/\d*)?$/.test(pathname)) {
    throw new RobotsInvalidOptionsError(
      `Expected the number of a database after the host, got ${shown}; write ${server}/0`,
    );
  }
  return { shown, database: Number(pathname.slice(1)) };
}

/** In `redis://user:12/34@host` the parser takes `user` for the host, and a part of the password for the path. */
function hasPlainCredentials({ username, password, pathname, search, hash }: URL): boolean {
  if (`${pathname}${search}${hash}`.includes('@')) return false;
  try {
    decodeURIComponent(username);
    decodeURIComponent(password);
    return true;
  } catch {
    return false;
  }
}
