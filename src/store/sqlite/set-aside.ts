import { statSync } from 'node:fs';
import { type SetAside, setAsideIfDamaged } from '../embedded/set-aside.ts';
import { type Connect, hasCode, type SqliteDatabase, SQLITE_CORRUPT, SQLITE_NOTADB } from './connection.ts';

/** A larger database is not read as a whole when it is opened: damage in it is an error of the call that meets it. */
const CHECKED_BYTES = 64 * 1024 * 1024;

/** A page has 512 octets at least. */
const SMALLEST_BYTES = 512;

/**
 * Sets the database at `path` aside if it is damaged.
 *
 * @returns the database that was moved; `undefined` when it is sound.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the database is damaged and cannot be moved.
 */
export function setDamagedSqliteAside(path: string, connect: Connect): SetAside | undefined {
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
  if (stats.size < SMALLEST_BYTES) return `it has ${stats.size} octets`;
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
