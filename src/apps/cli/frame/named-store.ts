import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import {
  ignore,
  isRobotsError,
  loadPeer,
  messageOf,
  printable,
  quoted,
  RobotsInvalidOptionsError,
} from '../../../core/base/index.ts';
import type { DamagedDatabase, RobotsStore, StoreEntry } from '../../../core/store/store.ts';
import { type Session, UsageError } from '../../answers/session.ts';

/** A store that `--store` names. */
export interface OpenedStore {
  readonly store: RobotsStore & {
    readonly damaged?: DamagedDatabase;
    entries(isWanted?: (key: string) => boolean): AsyncIterable<StoreEntry>;
    clear(): Promise<void>;
  };
  close(): Promise<void>;
}

/** Whether `--store` names a server instead of a file. */
export function isRedisUrl(store: string): boolean {
  return /^rediss?:\/\//i.test(store);
}

/** @throws UsageError for anything but a file, or the URL of a Redis or Valkey server. It may have a password, so it is not shown. */
export function assertStore(store: string): void {
  if (isRedisUrl(store)) return;
  // One letter is a drive of Windows. `redis:` counts without a slash too: a password shall not become a file.
  if (/^(?:(?:redis|valkey)s?:|[a-z][a-z0-9+.-]+:[/\\])/i.test(store)) {
    throw new UsageError(
      'Expected --store to be a file of SQLite or redis://HOST:PORT (rediss:// for TLS), got another URL; write redis:// for Valkey too',
    );
  }
  // With a slash behind it only a folder exists.
  if (/[/\\]$/.test(store) || existsSync(join(store, sep))) {
    throw new UsageError(
      `Expected --store to be a file of SQLite, got a folder; write --store ${quoted(join(store, 'robots.sqlite'))}`,
    );
  }
}

/** @param onDamage A command that reads never renames a database. */
export async function openStore(named: string, onDamage: 'rename' | 'throw'): Promise<OpenedStore> {
  if (isRedisUrl(named)) return openRedisStore(named);
  const { openSqliteStore } = await import('../../../stores/sqlite/sqlite.ts');
  const store = openSqliteStore(named, { onDamage });
  return { store, close: () => store.close() };
}

/** Warns that a damaged store was renamed, because its records are then missing. */
export function warnDamaged({ damaged }: OpenedStore['store'], session: Session): void {
  if (damaged === undefined) return;
  const { movedTo, reason } = damaged;
  session.stderr.write(
    `canfetch: the store was damaged (${printable(reason)}); it was renamed to ${printable(movedTo)}, and a new one was created\n`,
  );
}

const CONNECT_TIMEOUT_MS = 5_000;
const MAX_RECONNECT_MS = 2_000;

/**
 * Opens a store on the server at `url`, over the package `redis` that the user has installed. A server that cannot be
 * reached now is an error. If the connection is lost later, it is made again; until then calls of the store fail.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the URL is wrong, when `redis` is not installed,
 * when the connection fails or takes longer than five seconds, or when the server does not have the database.
 */
export async function openRedisStore(url: string): Promise<OpenedStore> {
  const shown = readRedisUrl(url);
  const { createClient }: typeof import('redis') = loadPeer('redis', '--store redis://…', () =>
    createRequire(import.meta.url)('redis'),
  );
  const { redisStore } = await import('../../../stores/redis/redis.ts');
  let hasConnected = false;
  let close = (): void => {};
  try {
    const client = createClient({
      url,
      // While the server is away, calls fail at once instead of waiting in memory.
      disableOfflineQueue: true,
      socket: {
        connectTimeout: CONNECT_TIMEOUT_MS,
        // A first failure is final.
        reconnectStrategy: (retries) =>
          hasConnected && Math.min(50 * 2 ** Math.min(retries, 10), MAX_RECONNECT_MS),
      },
    });
    close = () => client.isOpen && client.destroy();
    // Refuses an unsupported version before there is a connection.
    const store = redisStore(client);
    // Without a listener the loss of the connection would end the process. The calls that fail report it.
    client.on('error', ignore);
    await withinConnectTimeout(client.connect());
    hasConnected = true;
    return { store, close: async () => close() };
  } catch (error) {
    if (isRobotsError(error)) throw error;
    close();
    // Without a cause: `TypeError: Invalid URL` holds the password.
    throw new RobotsInvalidOptionsError(
      `Expected a Redis or Valkey server at ${shown}: ${messageOf(error instanceof AggregateError ? (error.errors[0] ?? error) : error)}; check that it runs, and the URL`,
    );
  }
}

/** The time-out of node-redis limits only the connection, not the first replies. */
async function withinConnectTimeout(connecting: Promise<unknown>): Promise<void> {
  const late = new Promise((resolve) => void setTimeout(resolve, CONNECT_TIMEOUT_MS, 'late').unref());
  if ((await Promise.race([connecting, late])) === 'late')
    throw new Error(`no answer within ${CONNECT_TIMEOUT_MS / 1000} seconds`);
}

/**
 * Checks the URL, and returns it for messages: without credentials. Messages show no URL from which a password
 * cannot be taken for certain.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
function readRedisUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !hasPlainCredentials(parsed)) {
    throw new RobotsInvalidOptionsError(
      'Expected the URL given to --store to be redis://USER:PASSWORD@HOST:PORT/DATABASE, got another; ' +
        'in a password write % / ? # @ as %25 %2F %3F %23 %40',
    );
  }
  return `${parsed.protocol}//${parsed.host}`;
}

/** In `redis://user:12/34@host` the parser takes `user` for the host, and a part of the password for the path. */
function hasPlainCredentials({ username, password, pathname, search, hash }: URL): boolean {
  if (`${pathname}${search}${hash}`.includes('@')) return false;
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}
