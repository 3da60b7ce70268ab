import { createRequire } from 'node:module';
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isRobotsError, quote, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { type QuarantinedDatabase, setAsideIfDamaged } from '../embedded/set-aside.ts';
import { type Connect, hasCode, type SqliteDatabase, SQLITE_CORRUPT, SQLITE_NOTADB } from './connection.ts';
import { prepareSchema } from './schema.ts';

/**
 * The time in ms that a step of opening may wait for other processes which open or write the same database. It blocks,
 * so a process that holds the file for longer is an error.
 */
const OPEN_TIMEOUT_MS = 500;

/** A larger database is not read as a whole when it is opened: damage in it is an error of the call that meets it. */
const CHECKED_BYTES = 64 * 1024 * 1024;

/** A page has 512 bytes at least. */
const SMALLEST_BYTES = 512;

interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options?: { readonly readOnly?: boolean }) => SqliteDatabase;
}

export interface OpenedDatabase {
  readonly database: SqliteDatabase;
  /** The damaged database that was replaced, if any. */
  readonly quarantine: QuarantinedDatabase | undefined;
}

/**
 * Opens the store's own database. A damaged one is set aside first and replaced by a new one.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when it cannot be opened; see its `cause`.
 */
export function openDatabase(givenPath: string): OpenedDatabase {
  const { DatabaseSync } = loadSqlite();
  const connect: Connect = (path, options = {}) => new DatabaseSync(path, options);
  // SQLite gives `:memory:` and `file:` a meaning of their own, which an absolute path does not have.
  const path = resolve(givenPath);
  let database: SqliteDatabase | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true });
    const quarantine = setDamagedSqliteAside(path, connect);
    database = connect(path);
    database.exec(`PRAGMA busy_timeout = ${OPEN_TIMEOUT_MS}`);
    prepareSchema(database, path);
    return { database, quarantine };
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
 * Sets the database at `path` aside if it is damaged.
 *
 * @returns the database that was moved; `undefined` when it is sound.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the database is damaged and cannot be moved.
 */
function setDamagedSqliteAside(path: string, connect: Connect): QuarantinedDatabase | undefined {
  return setAsideIfDamaged({
    kind: 'SQLite',
    path,
    companions: [`${path}-journal`, `${path}-wal`, `${path}-shm`],
    damage: () => damageOf(path, connect),
    locks: [path, `${path}-shm`],
  });
}

/** The damage of the file; `undefined` when it is sound, or when that cannot be found out without opening it for writing. */
function damageOf(path: string, connect: Connect): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile() || stats.size === 0) return undefined;
  // SQLite would take it for an empty file, and write over it.
  if (stats.size < SMALLEST_BYTES) return `it has ${stats.size} bytes`;
  let database: SqliteDatabase | undefined;
  try {
    // A connection for reading only: when it is closed, it does not delete the log of a database that another process
    // has put in the place of this one meanwhile.
    database = connect(path, { readOnly: true });
    database.exec('PRAGMA busy_timeout = 250');
    const check = stats.size > CHECKED_BYTES ? 'SELECT name FROM sqlite_master' : 'PRAGMA quick_check(1)';
    const { quick_check: found = 'ok' } = Object(database.prepare(check).get());
    return found === 'ok' ? undefined : String(found).replaceAll('\n', ' ');
  } catch (error) {
    if (!hasCode(error, SQLITE_CORRUPT) && !hasCode(error, SQLITE_NOTADB)) return undefined;
    return error instanceof Error ? error.message : String(error);
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
