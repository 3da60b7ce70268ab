import { createRequire } from 'node:module';
import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isRobotsError, quote, RobotsInvalidOptionsError } from '../../base/index.ts';
import type { SetAside } from '../embedded/set-aside.ts';
import type { Connect, SqliteDatabase } from './connection.ts';
import { prepareSchema } from './schema.ts';
import { setDamagedSqliteAside } from './set-aside.ts';

/**
 * The time in ms that a step of opening may wait for other processes which open or write the same database. It blocks,
 * so a process that holds the file for longer is an error.
 */
const OPEN_TIMEOUT_MS = 500;

interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options?: { readonly readOnly?: boolean }) => SqliteDatabase;
}

export interface OpenedDatabase {
  readonly database: SqliteDatabase;
  /** The damaged database that was replaced, if any. */
  readonly setAside: SetAside | undefined;
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
    const setAside = setDamagedSqliteAside(path, connect);
    database = connect(path);
    database.exec(`PRAGMA busy_timeout = ${OPEN_TIMEOUT_MS}`);
    prepareSchema(database, path);
    return { database, setAside };
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
