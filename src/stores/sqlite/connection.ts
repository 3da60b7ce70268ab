import { quote, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { moveError, pause } from '../embedded/quarantine.ts';

/** The part of a database connection that is used: of `node:sqlite`, `bun:sqlite` or a package with their interface. */
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

/** Opens a connection. */
export type Connect = (path: string, options?: { readonly readOnly?: boolean }) => SqliteDatabase;

/** Result codes of SQLite (`sqlite3.h`), with their names. */
export const SQLITE_BUSY = [5, 'SQLITE_BUSY'] as const;
export const SQLITE_CORRUPT = [11, 'SQLITE_CORRUPT'] as const;
export const SQLITE_NOTADB = [26, 'SQLITE_NOTADB'] as const;

/**
 * Whether an error has a result code, or an extended form of it. `node:sqlite` gives the number as `errcode`,
 * `bun:sqlite` as `errno`, `better-sqlite3` the name as `code`.
 */
export function hasCode(error: unknown, [code, name]: readonly [code: number, name: string]): boolean {
  const {
    errcode,
    errno,
    code: given,
  }: Partial<Record<'errcode' | 'errno' | 'code', unknown>> = Object(error);
  const number = errcode ?? errno;
  // The low byte of an extended code is the code.
  if (typeof number === 'number') return (number & 0xff) === code;
  return typeof given === 'string' && given.startsWith(name);
}

/** "canf" in ASCII: the application id in the header of our databases. */
const APPLICATION_ID = 0x63616e66;
/** The version of the tables, in `user_version`. */
const LAYOUT = 1;

const TABLES = `
  CREATE TABLE entry (
    kind INTEGER NOT NULL,
    key TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    content BLOB NOT NULL,
    UNIQUE (kind, key)
  );
  CREATE INDEX entry_by_expiry ON entry (expires_at);
  CREATE TABLE lease_count (given INTEGER NOT NULL);
  INSERT INTO lease_count VALUES (0);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${LAYOUT};
`;

/**
 * The time in ms that a step of opening may wait for other processes which open or write the same database. It blocks,
 * so a process that holds the file for longer is an error.
 */
const OPEN_TIMEOUT_MS = 500;
const PAUSE_MS = 5;

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

/**
 * Creates the tables where they are missing, and sets up the connection.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the database belongs to another program.
 */
export function prepareSchema(database: SqliteDatabase, path: string): void {
  database.exec(`PRAGMA busy_timeout = ${OPEN_TIMEOUT_MS}`);
  // In one transaction: another process may create the tables between the reads.
  if (inTransaction(database, 'BEGIN', () => needsTables(database, path))) {
    inTransaction(database, 'BEGIN IMMEDIATE', () => {
      // Another process may have created them meanwhile.
      if (needsTables(database, path)) database.exec(TABLES);
    });
  }
  applySettings(database);
}

/**
 * Applies the settings. To change the journal mode, SQLite upgrades a lock that it holds. While another process does so, too,
 * it fails at once instead of waiting.
 */
function applySettings(database: SqliteDatabase): void {
  // One attempt may take half of it.
  const until = performance.now() + 2 * OPEN_TIMEOUT_MS;
  for (;;) {
    try {
      database.exec(SETTINGS);
      return;
    } catch (error) {
      if (!hasCode(error, SQLITE_BUSY) || performance.now() >= until) throw error;
      pause(PAUSE_MS);
    }
  }
}

/** Runs `work` in a transaction of its own. Throws as `work` does. */
function inTransaction<Result>(
  database: SqliteDatabase,
  begin: 'BEGIN' | 'BEGIN IMMEDIATE',
  work: () => Result,
): Result {
  database.exec(begin);
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
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

/** Whether the database is new. */
function needsTables(database: SqliteDatabase, path: string): boolean {
  const application = pragma(database, 'application_id');
  const layout = pragma(database, 'user_version');
  if (application === APPLICATION_ID && layout === LAYOUT) return false;
  if (application === APPLICATION_ID) {
    const reason = `it has layout ${layout}, expected ${LAYOUT}`;
    throw moveError({ kind: 'SQLite', path }, reason, 'another version of canfetch may use it');
  }
  const { tables } = Object(database.prepare('SELECT count(*) AS tables FROM sqlite_master').get());
  if (application === 0 && tables === 0) return true;
  throw new RobotsInvalidOptionsError(
    `Expected a database for the store alone, got ${quote(path)}, which has tables of another program; ` +
      'name another file',
  );
}

function pragma(database: SqliteDatabase, name: 'application_id' | 'user_version'): unknown {
  return Reflect.get(Object(database.prepare(`PRAGMA ${name}`).get()), name);
}
