import { closeSync, mkdirSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import {
  builtin,
  isRobotsError,
  messageOf,
  quote,
  RobotsInvalidOptionsError,
} from '../../core/base/index.ts';
import { type DamagedDatabase, storeChannels } from '../../core/store/store.ts';

/** A connection of `node:sqlite`, `bun:sqlite`, `better-sqlite3` or `libsql`: the part that they have in common. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

export interface SqliteStatement {
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
  run(...values: SqliteValue[]): unknown;
}

export type SqliteValue = string | number | Uint8Array;

export type OpenSqlite = (path: string) => SqliteDatabase;

/** "canf" in ASCII: the application id in the header of our databases. */
const APPLICATION_ID = 0x63616e66;
/** The version of the tables, in `user_version`. */
const LAYOUT = 3;

/** A larger database is not checked as a whole when it is opened: a call that meets damage rejects. */
const CHECKED_BYTES = 64 * 1024 * 1024;
/** A page has 512 bytes at least. SQLite would overwrite a smaller file. */
const MIN_DATABASE_BYTES = 512;

/** For opening alone. Later SQLite would wait in the middle of a call, and block the process. */
const OPENING_TIMEOUT_MS = 50;
/** How often opening is tried while other processes open or write the database. */
const MAX_TRIES = 40;
const PAUSE_MS = 25;

/**
 * In WAL mode readers and a writer do not wait for each other. With `synchronous = NORMAL` there is one disk sync in
 * a thousand pages: "WAL mode is always consistent with synchronous=NORMAL, but WAL mode does lose durability. A
 * transaction committed in WAL mode with synchronous=NORMAL might roll back following a power loss or system crash."
 */
const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA journal_size_limit = 8388608;
`;

const TABLES = `
  CREATE TABLE value (
    key TEXT NOT NULL UNIQUE,
    recorded_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    content BLOB NOT NULL
  );
  CREATE INDEX value_by_expiry ON value (expires_at);
  CREATE TABLE lease (
    key TEXT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    taken_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE schedule (
    key TEXT NOT NULL PRIMARY KEY,
    slot_at INTEGER NOT NULL,
    delay_ms INTEGER NOT NULL,
    paused_until INTEGER NOT NULL,
    written_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    cause TEXT NOT NULL
  ) WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${LAYOUT};
`;

/**
 * Opens the database of a store, and creates what is missing. A damaged one is renamed, and a new one begun.
 *
 * @param onDamage `throw` leaves a damaged database where it is, for commands that only read.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for a file that is no database, or another program's.
 */
export function openDatabase(
  givenPath: string,
  onDamage: 'rename' | 'throw',
): { readonly database: SqliteDatabase; readonly damaged?: DamagedDatabase } {
  const open = loadSqlite();
  // SQLite gives `:memory:` and `file:` a meaning of their own, which an absolute path does not have.
  const path = resolve(givenPath);
  try {
    mkdirSync(dirname(path), { recursive: true });
    const { ino, size } = statSync(path, { throwIfNoEntry: false }) ?? { ino: 0, size: 0 };
    if (size > 0 && size < MIN_DATABASE_BYTES && !hasHeader(path)) throw notADatabase(givenPath);
    try {
      return { database: openOnce(open, path, size) };
    } catch (error) {
      const isNoDatabase = hasCode(error, 'SQLITE_NOTADB');
      if (isNoDatabase && !hasHeader(path)) throw notADatabase(givenPath);
      if (onDamage === 'throw' || !(isNoDatabase || hasCode(error, 'SQLITE_CORRUPT'))) throw error;
      const damaged = { path, movedTo: `${path}.damaged-${Date.now()}`, reason: messageOf(error) };
      // Another process may have done so meanwhile.
      if (statSync(path, { throwIfNoEntry: false })?.ino === ino) moveAside(damaged);
      const database = openOnce(open, path, 0);
      storeChannels.store.publish({ type: 'damaged', ...damaged });
      return { database, damaged };
    }
  } catch (cause) {
    if (isRobotsError(cause)) throw cause;
    throw new RobotsInvalidOptionsError(
      `Expected \`path\` to be a file where an SQLite database can be kept, got ${quote(givenPath)}: ${messageOf(cause)}`,
      { cause },
    );
  }
}

function openOnce(open: OpenSqlite, path: string, size: number): SqliteDatabase {
  const database = open(path);
  try {
    prepareDatabase(database, path);
    if (size <= CHECKED_BYTES) {
      const { quick_check: found } = Object(database.prepare('PRAGMA quick_check(1)').get());
      if (found !== 'ok') throw damage(String(found));
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function damage(found: string): Error {
  const error = new Error(`the database is damaged: ${found.replaceAll('\n', ' ')}`);
  return Object.assign(error, { code: 'SQLITE_CORRUPT' });
}

/**
 * Creates the tables where they are missing, and sets the connection up.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the database belongs to another program.
 */
export function prepareDatabase(database: SqliteDatabase, path: string): void {
  database.exec(`PRAGMA busy_timeout = ${OPENING_TIMEOUT_MS}`);
  for (let tries = 1; ; tries++) {
    try {
      // SQLite does not wait where it upgrades a lock that it holds, as it does to change the journal mode.
      if (needsTables(database, path)) createTables(database, path);
      database.exec(SETTINGS);
      database.exec('PRAGMA busy_timeout = 0');
      return;
    } catch (error) {
      if (!isBusy(error) || tries === MAX_TRIES) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}

function createTables(database: SqliteDatabase, path: string): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have created them meanwhile.
    if (needsTables(database, path)) database.exec(TABLES);
    database.exec('COMMIT');
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** Ends a transaction that failed. After some errors, as on a full disk, SQLite has done so by itself. */
export function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // The earlier error has the cause.
  }
}

const IDENTITY = `
  SELECT
    (SELECT application_id FROM pragma_application_id) AS application,
    (SELECT user_version FROM pragma_user_version) AS layout,
    (SELECT count(*) FROM sqlite_master) AS tables
`;

/** Whether the database is new. */
function needsTables(database: SqliteDatabase, path: string): boolean {
  // One statement sees one state: another process may be creating the tables.
  const { application, layout, tables } = Object(database.prepare(IDENTITY).get());
  if (application === APPLICATION_ID && layout === LAYOUT) return false;
  if (application === 0 && tables === 0) return true;
  const whose = application === APPLICATION_ID ? 'another version of canfetch' : 'another program';
  throw new RobotsInvalidOptionsError(
    `Expected a database for the store alone, got ${quote(path)}, which is of ${whose}; name another file`,
  );
}

/** Whether the file begins as databases of SQLite do. Only for files that SQLite cannot have open: it loses its locks. */
function hasHeader(path: string): boolean {
  const header = 'SQLite format 3\0';
  const bytes = Buffer.alloc(header.length);
  const file = openSync(path, 'r');
  try {
    readSync(file, bytes);
  } finally {
    closeSync(file);
  }
  return bytes.toString('latin1') === header;
}

function notADatabase(path: string): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    `Expected a database of SQLite, or a file that does not exist, got ${quote(path)}, which is another kind of file; ` +
      'name another file',
  );
}

function moveAside({ path, movedTo }: DamagedDatabase): void {
  // SQLite would play the log of the old database into the new one.
  for (const companion of [`${path}-wal`, `${path}-shm`]) rmSync(companion, { force: true });
  renameSync(path, movedTo);
}

/** Whether an error has a result code of SQLite, or an extended form of it. */
export function hasCode(error: unknown, name: keyof typeof CODES): boolean {
  const { errcode, code }: { readonly errcode?: unknown; readonly code?: unknown } = Object(error);
  // `node:sqlite` gives the number. The low byte of an extended code is the code.
  if (typeof errcode === 'number') return (errcode & 0xff) === CODES[name];
  return typeof code === 'string' && code.startsWith(name);
}

/** Whether another process holds a lock that the call needs. */
export const isBusy = (error: unknown): boolean => hasCode(error, 'SQLITE_BUSY');

/** Result codes of SQLite (`sqlite3.h`). */
const CODES = { SQLITE_BUSY: 5, SQLITE_CORRUPT: 11, SQLITE_NOTADB: 26 } as const;

/** Loads SQLite on use. Callers with a database of their own bring it themselves. */
function loadSqlite(): OpenSqlite {
  const require = createRequire(import.meta.url);
  if (process.versions['bun'] !== undefined) {
    const { Database }: { readonly Database: new (path: string) => SqliteDatabase } = require('bun:sqlite');
    return (path) => new Database(path);
  }
  const sqlite = builtin('node:sqlite');
  if (sqlite !== undefined) return (path) => new sqlite.DatabaseSync(path);
  const causes: unknown[] = [];
  // `libsql` first: `better-sqlite3` 13 ends a process of Node.js 20.
  for (const load of [() => require('libsql'), () => require('better-sqlite3')]) {
    try {
      const Database: new (path: string) => SqliteDatabase = load();
      return (path) => new Database(path);
    } catch (cause) {
      causes.push(cause);
    }
  }
  throw new RobotsInvalidOptionsError(
    'Expected an SQLite library: Node.js 22.13 or later has one; ' +
      `for ${process.version} install the package \`libsql\`, or \`better-sqlite3\` 12`,
    { cause: new AggregateError(causes) },
  );
}
