import { existsSync } from 'node:fs';
import type { EmbeddedStore } from '../../store/lmdb/lmdb.ts';

/** The beginning of a `--store` that names a file of SQLite. */
const SQLITE = 'sqlite:';

/** Whether `--store` names a server instead of a file or a folder. */
export function isRedisUrl(store: string): boolean {
  return /^rediss?:\/\//i.test(store);
}

/** The file or folder that `--store` names. */
export function storePath(store: string): string {
  return store.startsWith(SQLITE) ? store.slice(SQLITE.length) : store;
}

/** Whether the store that `--store` names is there. */
export function storeExists(store: string): boolean {
  return existsSync(storePath(store));
}

/**
 * Opens the store that `--store` names: `sqlite:FILE`, or the folder of an LMDB store. Loads its library.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when it cannot be opened.
 */
export async function openPathStore(store: string): Promise<EmbeddedStore> {
  const path = storePath(store);
  if (path !== store) return (await import('../../store/sqlite/sqlite.ts')).sqliteStore({ path });
  return (await import('../../store/lmdb/lmdb.ts')).lmdbStore({ path });
}
