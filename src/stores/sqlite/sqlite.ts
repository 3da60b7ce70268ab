import { type Clock, RobotsInvalidOptionsError, systemClock } from '../../core/base/index.ts';
import { embeddedStore, type EmbeddedStore, readPathOptions } from '../embedded/embedded-store.ts';
import type { OnDamage } from '../embedded/quarantine.ts';
import { type SqliteDatabase, prepareSchema } from './connection.ts';
import { openDatabase } from './database.ts';
import { SqliteEntries } from './entries.ts';

export type { EmbeddedStore } from '../embedded/embedded-store.ts';
export type { OnDamage, QuarantinedDatabase } from '../embedded/quarantine.ts';
export type { FencedLease, StoreEntry } from '../../core/store/store.ts';
export type { RobotsStore, StoreLease, StoreLeaseOptions, StoreSetOptions } from '../../core/store/store.ts';
export type { SqliteDatabase, SqliteStatement, SqliteValue } from './connection.ts';

export interface SqliteStoreOptions {
  /**
   * A file, created if it is missing; two more, `…-wal` and `…-shm`, lie beside it. It must be on a local disk:
   * SQLite's write-ahead log does not work on network file systems.
   */
  readonly path: string;
  /** Clock for expiry, leases and slots. @default the system clock, which all processes of the machine share */
  readonly clock?: Clock;
  /**
   * What happens to a damaged database: `replace` renames it and begins a new one, `throw` leaves it and throws. A file
   * that is no database is always left, and an error.
   * @default 'replace'
   */
  readonly onDamage?: OnDamage;
}

/** The store that {@link sqliteStore} makes. */
export type SqliteStore = EmbeddedStore;

/**
 * Makes a store for any number of processes on one machine, without a native package. It needs Node.js 22.13 or later,
 * whose `node:sqlite` it uses.
 *
 * Pass a file; or a database that you opened for the store alone, with `node:sqlite` or `bun:sqlite`. The store sets
 * such a database up (WAL mode, tables), and does not close it.
 *
 * Calls of SQLite run in the thread of the caller; each takes a fraction of a millisecond, and now and then one takes
 * as long as the disk takes to sync. Opening may block it for a few seconds while other processes open the file; later waits
 * for them do not block it. Errors of the database, such as a full disk, reject the call.
 *
 * A file of up to 64 MiB is checked when it is opened. A damaged one is renamed, kept beside the new one, and reported
 * in {@link EmbeddedStore.quarantine}. All processes that use a file must share a process table: not containers with
 * separate process ids.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), also when Node.js has no SQLite, or when the
 * database cannot be opened, is another program's, or is damaged while another process has it open.
 *
 * @example
 * ```ts
 * import { RobotsClient } from 'canfetch';
 * import { sqliteStore } from 'canfetch/sqlite';
 *
 * const store = sqliteStore({ path: './robots.sqlite' });
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0', store });
 * // …
 * await robots.close();
 * await store.close();
 * ```
 */
export function sqliteStore(source: SqliteStoreOptions | SqliteDatabase): SqliteStore {
  const name = 'SQLite store';
  if (isDatabase(source)) {
    const close = (): Promise<void> => Promise.resolve();
    return embeddedStore(setUp(source), { name, clock: systemClock, close });
  }
  const { path, clock, onDamage } = readPathOptions(source, 'a file, or an open database of SQLite');
  const { database, entries, quarantine } = openDatabase(path, onDamage);
  return embeddedStore(entries, { name, clock, quarantine, close: async () => void database.close() });
}

function isDatabase(source: SqliteStoreOptions | SqliteDatabase): source is SqliteDatabase {
  return typeof source === 'object' && source !== null && 'prepare' in source;
}

function setUp(database: SqliteDatabase): SqliteEntries {
  try {
    prepareSchema(database, 'the database');
    return new SqliteEntries(database);
  } catch (cause) {
    if (cause instanceof RobotsInvalidOptionsError) throw cause;
    throw new RobotsInvalidOptionsError(
      `Expected an open database of SQLite that can be written: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}
