import { createRequire } from 'node:module';
import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isRobotsError, quote, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import {
  type DatabaseFile,
  makeFolder,
  type OnDamage,
  type QuarantinedDatabase,
  quarantineIfDamaged,
} from '../embedded/quarantine.ts';
import {
  type Connect,
  hasCode,
  type SqliteDatabase,
  SQLITE_CORRUPT,
  SQLITE_NOTADB,
  prepareSchema,
} from './connection.ts';
import { SqliteEntries } from './entries.ts';

/** A larger database is not checked as a whole when it is opened: a call that meets damage rejects. */
const CHECKED_BYTES = 64 * 1024 * 1024;

/** A page has 512 bytes at least. */
const SMALLEST_BYTES = 512;

interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options?: { readonly readOnly?: boolean }) => SqliteDatabase;
}

export interface OpenedDatabase {
  readonly database: SqliteDatabase;
  readonly entries: SqliteEntries;
  /** The damaged database that was replaced, if any. */
  readonly quarantine: QuarantinedDatabase | undefined;
}

/**
 * Opens the store's own database.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when it cannot be opened; see its `cause`.
 */
export function openDatabase(givenPath: string, onDamage: OnDamage): OpenedDatabase {
  const { DatabaseSync } = loadSqlite();
  const connect: Connect = (path, options = {}) => new DatabaseSync(path, options);
  // SQLite gives `:memory:` and `file:` a meaning of their own, which an absolute path does not have.
  const path = resolve(givenPath);
  let database: SqliteDatabase | undefined;
  try {
    makeFolder(dirname(path));
    const quarantine = quarantineDamagedSqlite(path, connect, onDamage);
    database = connect(path);
    prepareSchema(database, path);
    return { database, entries: new SqliteEntries(database), quarantine };
  } catch (cause) {
    database?.close();
    if (isRobotsError(cause)) throw cause;
    throw new RobotsInvalidOptionsError(
      `Expected \`path\` to be a file where an SQLite database can be kept, got ${quote(givenPath)}: ` +
        messageOf(cause),
      { cause },
    );
  }
}

/**
 * Renames the database at `path` if it is damaged.
 *
 * @returns the database that was moved; `undefined` when it is sound.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the database is damaged and cannot be moved.
 */
function quarantineDamagedSqlite(
  path: string,
  connect: Connect,
  onDamage: OnDamage,
): QuarantinedDatabase | undefined {
  const companions = [`${path}-journal`, `${path}-wal`, `${path}-shm`];
  const file: DatabaseFile = {
    kind: 'SQLite',
    path,
    companions,
    isDatabase: () => companions.some((companion) => existsSync(companion)) || !isForeign(path, connect),
    damage: () => damageOf(path, connect),
    locks: [path, `${path}-shm`],
  };
  return quarantineIfDamaged(file, onDamage);
}

/**
 * Whether the file lacks the signature of SQLite. SQLite reads it, because closing a descriptor of our own would release
 * the locks that this process holds on the file.
 */
function isForeign(path: string, connect: Connect): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  // Another process has moved it.
  if (stats === undefined) return false;
  if (stats.size < SMALLEST_BYTES) return true;
  const error = errorOf(path, connect, 'SELECT name FROM sqlite_master');
  return error !== undefined && hasCode(error, SQLITE_NOTADB);
}

/** The damage of the file; `undefined` when it is sound, or when a check would have to open it for writing. */
function damageOf(path: string, connect: Connect): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile() || stats.size === 0) return undefined;
  // SQLite would treat it as an empty file, and overwrite it.
  if (stats.size < SMALLEST_BYTES) return `it has ${stats.size} bytes`;
  const isLarge = stats.size > CHECKED_BYTES;
  const error = errorOf(path, connect, isLarge ? 'SELECT name FROM sqlite_master' : 'PRAGMA quick_check(1)');
  if (error === undefined) return undefined;
  if (!hasCode(error, SQLITE_CORRUPT) && !hasCode(error, SQLITE_NOTADB)) return undefined;
  return messageOf(error);
}

/**
 * The damage that a query finds. The connection is read-only: closing it must not delete the log of a database with which
 * another process has replaced this one meanwhile.
 */
function errorOf(path: string, connect: Connect, query: string): unknown {
  let database: SqliteDatabase | undefined;
  try {
    database = connect(path, { readOnly: true });
    database.exec('PRAGMA busy_timeout = 250');
    const { quick_check: found = 'ok' } = Object(database.prepare(query).get());
    if (found === 'ok') return undefined;
    return Object.assign(new Error(String(found).replaceAll('\n', ' ')), { errcode: SQLITE_CORRUPT[0] });
  } catch (error) {
    return error;
  } finally {
    database?.close();
  }
}

/** Loads SQLite on use. Callers with a database of their own bring it themselves. */
function loadSqlite(): NodeSqlite {
  try {
    const library: NodeSqlite = createRequire(import.meta.url)('node:sqlite');
    return library;
  } catch (cause) {
    throw new RobotsInvalidOptionsError(
      `Expected Node.js 22.13 or later, which has \`node:sqlite\`, got ${process.version}; update Node.js, or use ` +
        `\`lmdbStore\` of \`canfetch/lmdb\`: ${messageOf(cause)}`,
      { cause },
    );
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
