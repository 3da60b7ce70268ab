import { type Clock, systemClock } from '../../core/base/index.ts';
import { embeddedStore, type EmbeddedStore, readPathOptions } from '../embedded/embedded-store.ts';
import type { OnDamage } from '../embedded/quarantine.ts';
import { checkDatabase, type LmdbDatabase, openDatabase } from './database.ts';
import { LmdbEntries } from './entries.ts';

export type { FencedLease, StoreEntry } from '../../core/store/store.ts';
export type { LmdbDatabase, LmdbEntry, LmdbRange } from './database.ts';
export type { OnDamage, QuarantinedDatabase } from '../embedded/quarantine.ts';
export type { EmbeddedStore } from '../embedded/embedded-store.ts';
export type { RobotsStore, StoreLease, StoreLeaseOptions, StoreSetOptions } from '../../core/store/store.ts';

export interface LmdbStoreOptions {
  /** A folder, created if it is missing. It must be on a local disk: LMDB does not work on network file systems. */
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

/** The store that {@link lmdbStore} makes. */
export type LmdbStore = EmbeddedStore;

/**
 * Makes a store for up to 1,024 processes and worker threads on one machine. It needs the package `lmdb`.
 *
 * Pass a folder; or a database that you opened with `lmdb` for the store alone, as `open({ path, encoding: 'binary'
 * })` or `root.openDB({ name: 'robots', encoding: 'binary' })`. Errors of the database, such as a full disk, reject
 * the call; `lmdb` prints them too.
 *
 * LMDB trusts its file and the disk: a damaged file, or a full disk, would end the process. So a database that was not
 * closed, has changed since, or exceeds 64 MiB is first opened in a child process, which costs the start of a process.
 * The file `data.mdb.closed` marks a clean shutdown; the next process that opens the database removes it. A damaged file is renamed,
 * kept beside the new one, and reported in {@link EmbeddedStore.quarantine}. All processes that use a folder must share a
 * process table: not containers with separate process ids.
 *
 * Close the store before `process.exit()`: a process that exits while LMDB writes is ended by a signal.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), also when the package is missing, when the disk
 * is full, or when the database cannot be opened, or is damaged while another process has it open.
 *
 * @example
 * ```ts
 * import { RobotsClient } from 'canfetch';
 * import { lmdbStore } from 'canfetch/lmdb';
 *
 * const store = lmdbStore({ path: './robots-cache' });
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0', store });
 * // …
 * await robots.close();
 * await store.close();
 * ```
 */
export function lmdbStore(source: LmdbStoreOptions | LmdbDatabase): LmdbStore {
  const name = 'LMDB store';
  if (isDatabase(source)) {
    const close = (): Promise<void> => Promise.resolve();
    return embeddedStore(new LmdbEntries(checkDatabase(source)), { name, clock: systemClock, close });
  }
  const { path, clock, onDamage } = readPathOptions(source, 'a folder, or a database opened with `lmdb`');
  const { database, quarantine, close } = openDatabase(path, onDamage);
  return embeddedStore(new LmdbEntries(database), { name, clock, quarantine, close });
}

function isDatabase(source: LmdbStoreOptions | LmdbDatabase): source is LmdbDatabase {
  return typeof source === 'object' && source !== null && 'getRange' in source;
}
