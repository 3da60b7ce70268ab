import { existsSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EmbeddedStore, OnDamage } from '../../../stores/lmdb/lmdb.ts';
import { causesOf, RobotsInvalidOptionsError, printable } from '../../../core/base/index.ts';

/** The beginning of a `--store` that names a file of SQLite. */
const SQLITE = 'sqlite:';

/** Whether `--store` names a server instead of a file or a folder. */
export function isRedisUrl(store: string): boolean {
  return /^rediss?:\/\//i.test(store);
}

/**
 * The scheme of a URL, unless it is `sqlite:` and a path. One letter is a drive of Windows: `C:/folder`. `redis:` counts
 * without a slash too: a password shall not become the name of a folder.
 */
export function urlScheme(store: string): string | undefined {
  return store.startsWith(SQLITE)
    ? undefined
    : /^(?:(rediss?|valkeys?):|([a-z][a-z0-9+.-]+):[/\\])/i.exec(store)?.slice(1).find(Boolean);
}

/** The scheme of a URL that is not of a Redis or Valkey server. */
export function unknownScheme(store: string): string | undefined {
  return isRedisUrl(store) ? undefined : urlScheme(store);
}

/** The file or folder that `--store` names. */
export function storePath(store: string): string {
  return store.startsWith(SQLITE) ? store.slice(SQLITE.length) : store;
}

/** Whether the store that `--store` names is there: its file, or the file of LMDB in its folder. */
export function storeExists(store: string): boolean {
  const path = storePath(store);
  return existsSync(path !== store || extname(path) !== '' ? path : join(path, 'data.mdb'));
}

/**
 * Opens the store that `--store` names: `sqlite:FILE`, or the folder of an LMDB store. Loads its library.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when it cannot be opened.
 */
export async function openPathStore(store: string, onDamage: OnDamage = 'replace'): Promise<EmbeddedStore> {
  const path = storePath(store);
  if (path !== store)
    return (await import('../../../stores/sqlite/sqlite.ts')).sqliteStore({ path, onDamage });
  const { lmdbStore } = await import('../../../stores/lmdb/lmdb.ts');
  silenceLmdb();
  try {
    return lmdbStore({ path, onDamage });
  } catch (error) {
    if (!isMissing(error, 'lmdb')) throw error;
    throw new RobotsInvalidOptionsError(withoutLmdb(store, hasSqlite()), { cause: error });
  }
}

/** Whether an optional peer could not be loaded because it is not installed. */
function isMissing(error: unknown, name: string): boolean {
  const [cause] = [...causesOf(error)].slice(-1);
  return (
    cause instanceof Error &&
    'code' in cause &&
    cause.code === 'MODULE_NOT_FOUND' &&
    cause.message.includes(name)
  );
}

function hasSqlite(): boolean {
  return Reflect.has(process, 'getBuiltinModule') && process.getBuiltinModule('node:sqlite') !== undefined;
}

/** What to do where `--store` names a folder and the package `lmdb` is not installed. */
export function withoutLmdb(store: string, hasSqlite: boolean): string {
  const file = extname(store) === '' ? `${store.replace(/[/\\]+$/, '')}.sqlite` : store;
  const instead = hasSqlite ? `, or write --store ${SQLITE}${printable(file)}, which needs no package` : '';
  return `Expected the package lmdb, which a folder as --store needs, but it is not installed; run \`${installLine('lmdb')}\`${instead}`;
}

/**
 * The line that installs a package where this program finds it.
 *
 * @param program The file of this program. With npx and for a global install it is not below the working directory.
 */
export function installLine(
  name: string,
  program: string = fileURLToPath(import.meta.url),
  cwd: string = process.cwd(),
): string {
  if (/[/\\]_npx[/\\]/.test(program)) return `npx -p canfetch -p ${name} canfetch`;
  const folder = /^(.*?)[/\\]node_modules[/\\]/.exec(program)?.[1];
  if (folder === undefined || `${cwd}${sep}`.startsWith(`${folder}${sep}`)) return `npm install ${name}`;
  return existsSync(join(folder, 'package.json'))
    ? `npm install --prefix ${folder} ${name}`
    : `npm install --global ${name}`;
}

let silenced: typeof console.error | undefined;

/** `lmdb` prints the stack of each commit that fails. The store throws the same error, which the command reports. */
function silenceLmdb(): void {
  const { error: print } = console;
  if (print === silenced) return;
  silenced = (...values: unknown[]): void => {
    const [error] = values;
    // Errors of LMDB have numbers as codes, of the system and of `lmdb.h`; errors of Node have names.
    if (!(error instanceof Error && 'code' in error && typeof error.code === 'number')) print(...values);
  };
  console.error = silenced;
}

/** A URL that `--store` gives, of a Redis or Valkey server. */
export interface RedisUrl {
  /** As given, with the credentials. */
  readonly url: string;
  /** Without credentials and query, for messages. */
  readonly shown: string;
  readonly database: number;
}

/**
 * Reads the URL of a server. Messages show no URL from which a password cannot be taken for certain.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function readRedisUrl(url: string): RedisUrl {
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
  return { url, shown, database: Number(pathname.slice(1)) };
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
