import { extname, join } from 'node:path';
import { isLocked, moveError, pause, type SetAside, setAsideIfDamaged } from '../embedded/set-aside.ts';
import { checkDatabaseFile } from './database-file.ts';

/** The number of times that a file which seems damaged is checked again: another process may be creating it. */
const TRIES = 5;
const PAUSE_MS = 20;

/** The two files that LMDB opens for `path`: in a folder, or, if it has an extension, the file itself. */
function filesAt(path: string): { readonly data: string; readonly lock: string } {
  return extname(path) === ''
    ? { data: join(path, 'data.mdb'), lock: join(path, 'lock.mdb') }
    : { data: path, lock: `${path}-lock` };
}

/**
 * Sets the database at `path` aside if it is damaged.
 *
 * @returns the database that was moved; `undefined` when it is sound.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the database is damaged and cannot be moved, or
 * is of a format that LMDB cannot read.
 */
export function setDamagedLmdbAside(path: string): SetAside | undefined {
  const { data, lock } = filesAt(path);
  return setAsideIfDamaged({
    kind: 'LMDB',
    path: data,
    companions: [],
    damage: () => damageOf(data, lock),
    // LMDB holds a lock on the lock file while it has the database open.
    isOpen: () => isLocked(lock),
  });
}

/** The damage of the file; `undefined` when it is sound. */
function damageOf(data: string, lock: string): string | undefined {
  for (let triesLeft = TRIES; ; triesLeft--) {
    // Pages change under a reader that LMDB does not know. A process that has the database open has checked them.
    const check = checkDatabaseFile(data, isLocked(lock) ? 'header' : 'pages');
    if (check.kind === 'sound') return undefined;
    if (check.kind === 'foreign') {
      throw moveError({ kind: 'LMDB', path: data }, check.reason, 'it may belong to another program');
    }
    if (triesLeft <= 1) return check.kind === 'damaged' ? check.reason : undefined;
    pause(PAUSE_MS);
  }
}
