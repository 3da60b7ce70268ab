import {
  existsSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { extname, join } from 'node:path';
import { quote, RobotsInvalidOptionsError } from '../../base/index.ts';
import { checkDatabaseFile } from './database-file.ts';

/** A damaged database that was renamed and replaced by a new one. */
export interface SetAside {
  /** The original path of the file, now that of the new database. */
  readonly path: string;
  /** The path of the damaged file. It is kept for inspection and can be deleted. */
  readonly movedTo: string;
  /** The damage found. */
  readonly reason: string;
}

/** How often a file that seems damaged is checked again: another process may be creating it. */
const TRIES = 5;
const PAUSE_MS = 20;
/** Longer than another process needs to check and rename the file. */
const MAX_WAIT_MS = 10_000;

/** The two files that LMDB opens for `path`: in a folder, or, if it has an extension, the file itself. */
function filesAt(path: string): { readonly data: string; readonly lock: string } {
  return extname(path) === ''
    ? { data: join(path, 'data.mdb'), lock: join(path, 'lock.mdb') }
    : { data: path, lock: `${path}-lock` };
}

/**
 * Sets the database at `path` aside if it is damaged. Call it before the database is opened.
 *
 * A database that a process has open is never moved. When several processes find the same damage, only one moves the
 * file. Both need `/proc` of Linux; on other systems a damaged database is an error.
 *
 * @returns the database that was moved; `undefined` when it is sound.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the database is damaged and cannot be moved, or
 * is of a format that LMDB cannot read.
 */
export function setAsideIfDamaged(path: string): SetAside | undefined {
  const { data, lock } = filesAt(path);
  const damage = damageOf(data, lock);
  if (damage === undefined) return undefined;
  const claim = claimRenaming(data, damage);
  try {
    // Another process may have set it aside and opened a new one meanwhile.
    const reason = damageOf(data, lock);
    if (reason === undefined) return undefined;
    if (isOpenSomewhere(lock)) throw moveError(data, reason, 'a process has it open');
    const movedTo = unusedName(data);
    renameSync(data, movedTo);
    return { path: data, movedTo, reason };
  } finally {
    unlinkSync(claim);
  }
}

/** The damage of the file; `undefined` when it is sound. */
function damageOf(data: string, lock: string): string | undefined {
  for (let triesLeft = TRIES; ; triesLeft--) {
    // Pages change under a reader that LMDB does not know. A process that has the database open has checked them.
    const check = checkDatabaseFile(data, isOpenSomewhere(lock) ? 'header' : 'pages');
    if (check.kind === 'sound') return undefined;
    if (check.kind === 'foreign') throw moveError(data, check.reason, 'it may belong to another program');
    if (triesLeft <= 1) return check.kind === 'damaged' ? check.reason : undefined;
    pause(PAUSE_MS);
  }
}

/**
 * Whether any process, including this one, has the database open: LMDB then holds a lock on the lock file. The lock
 * file is never opened here, because closing it would release this process's own lock.
 */
function isOpenSomewhere(lock: string): boolean {
  const inode = statSync(lock, { bigint: true, throwIfNoEntry: false })?.ino;
  if (inode === undefined || process.platform !== 'linux') return false;
  const locks = readFileSync('/proc/locks', 'utf8').split('\n');
  // "1: POSIX  ADVISORY  READ 5433 08:01:7864448 0 0". Only the inode is compared: file systems may report another
  // device here than in `stat`.
  return locks.some((line) => line.includes(`:${inode} `));
}

/**
 * Makes this process the only one that may rename the file, until the returned link is unlinked.
 *
 * A claim is a symbolic link whose target names its process. It is created atomically, and removed by its owner only.
 * The claim of a dead process is skipped by creating the next one, so that no two processes ever replace it.
 */
function claimRenaming(data: string, reason: string): string {
  if (process.platform !== 'linux')
    throw moveError(data, reason, 'only on Linux can be found out whether it is in use');
  const owner = `${process.pid} ${startOf(process.pid)}`;
  const until = performance.now() + MAX_WAIT_MS;
  for (let number = 1; ;) {
    const claim = `${data}.claim-${number}`;
    try {
      symlinkSync(owner, claim);
      return claim;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    if (!mayBeAlive(claim)) number++;
    else if (performance.now() < until) pause(PAUSE_MS);
    else throw moveError(data, reason, `the process that made ${quote(claim)} has not finished`);
  }
}

/** Whether the process of a claim is alive. A claim that has just been removed counts as alive. */
function mayBeAlive(claim: string): boolean {
  try {
    const [pid = '', ...start] = readlinkSync(claim).split(' ');
    return startOf(Number(pid)) === start.join(' ');
  } catch (error) {
    return codeOf(error) === 'ENOENT';
  }
}

/** The start time of a process and of the machine. With the process id, this is unique. */
function startOf(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // The program name, in parentheses, may contain spaces. Field 22 is the start time.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ');
    return `${fields?.[22 - 3]} ${boot}`;
  } catch {
    return undefined;
  }
}

function unusedName(data: string): string {
  const name = `${data}.damaged-${new Date().toISOString().replaceAll(':', '')}`;
  for (let number = 0; ; number++) {
    const candidate = number === 0 ? name : `${name}-${number}`;
    if (!existsSync(candidate)) return candidate;
  }
}

function moveError(data: string, damage: string, why: string): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    `Expected the LMDB database ${quote(data)} to be undamaged, but ${damage}. It was not moved aside, because ${why}. ` +
      'Close the programs that use it, and move the file away or use another `path`',
  );
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Blocks: `lmdbStore` opens synchronously. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
