import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, quote, RobotsInvalidOptionsError } from '../../core/base/index.ts';

/** A damaged database that was renamed and replaced by a new one. */
export interface QuarantinedDatabase {
  /** The original path of the file, now that of the new database. */
  readonly path: string;
  /** The path of the damaged file. It is kept for inspection and can be deleted. */
  readonly movedTo: string;
  /** The damage found. */
  readonly reason: string;
}

/** The file of a database, before it is opened. */
export interface DatabaseFile {
  /** The kind of database, in errors. */
  readonly kind: 'LMDB' | 'SQLite';
  readonly path: string;
  /** Files that belong to it, and are moved first. */
  readonly companions: readonly string[];
  /** Whether the file has the signature of this kind of database, or shows that it had one. */
  isDatabase(): boolean;
  /** The damage; `undefined` when it is sound. */
  damage(): string | undefined;
  /** Files on which a process, including this one, holds a lock while it has the database open. */
  readonly locks: readonly string[];
}

/**
 * The handling of a damaged database: `replace` renames it and begins a new one; `throw` leaves it unchanged, for
 * programs that only read.
 */
export type OnDamage = 'replace' | 'throw';

const PAUSE_MS = 20;
/** How often a file is looked at before it counts as one of something else. */
const FOREIGN_LOOKS = 10;
/** Longer than another process needs to check and rename the file. */
const MAX_WAIT_MS = 10_000;
/** The time for which another process may have a damaged database open in order to check it. */
const CHECK_MS = 2_000;

/**
 * Renames a damaged database. Call it before the database is opened.
 *
 * A file that never was a database, and a database that a process has open, are never moved. When several processes
 * find the same damage, only one moves the file. Both need `/proc` of Linux; elsewhere a damaged database is an error.
 *
 * @returns the database that was moved; `undefined` when it is sound.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the file is no database, or a damaged one that
 * cannot be moved.
 */
export function quarantineIfDamaged(file: DatabaseFile, onDamage: OnDamage): QuarantinedDatabase | undefined {
  assertDatabase(file);
  const damage = file.damage();
  if (damage === undefined) return undefined;
  if (onDamage === 'throw') throw moveError(file, damage, 'it was opened to be read only');
  const claim = claimRenaming(file, damage);
  try {
    // Another process may have quarantined the file and opened a new one meanwhile.
    const reason = file.damage();
    if (reason === undefined) return undefined;
    if (isOpen(file)) throw moveError(file, reason, 'a process has it open');
    const movedTo = unusedName(file.path);
    for (const companion of file.companions) {
      if (existsSync(companion)) renameSync(companion, movedTo + companion.slice(file.path.length));
    }
    renameSync(file.path, movedTo);
    return { path: file.path, movedTo, reason };
  } finally {
    unlinkSync(claim);
  }
}

/** An unrelated file that `path` names by mistake must stay unchanged. An empty file has nothing to lose. */
function assertDatabase({ kind, path, isDatabase }: DatabaseFile): void {
  // Another process may be replacing a damaged database: only a file that stays foreign is one.
  for (let looks = 0; looks < FOREIGN_LOOKS; looks++) {
    if (looks > 0) pause(PAUSE_MS);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || !stats.isFile() || stats.size === 0 || isDatabase()) return;
  }
  throw new RobotsInvalidOptionsError(
    `Expected ${quote(path)} to be a database of ${kind}, got a file of something else, which was left as it is; ` +
      'use another `path`',
  );
}

/**
 * Creates a folder and those above it. Unlike `mkdirSync` with `recursive`, which never ends where the system refuses
 * new folders with ENOENT, as below `/proc`.
 *
 * @throws the system's error.
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return;
    const above = dirname(path);
    if (code !== 'ENOENT' || above === path || existsSync(above)) throw error;
    makeFolder(above);
    mkdirSync(path);
  }
}

/** Whether a process keeps the database open for longer than a check takes. */
function isOpen({ locks }: DatabaseFile): boolean {
  const until = performance.now() + CHECK_MS;
  while (locks.some(isLocked)) {
    if (performance.now() >= until) return true;
    pause(PAUSE_MS);
  }
  return false;
}

/**
 * Whether any process, including this one, holds a lock on a file. The file is not opened here, because closing it
 * would release this process's own locks.
 */
export function isLocked(path: string): boolean {
  const inode = statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
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
function claimRenaming(file: DatabaseFile, reason: string): string {
  if (process.platform !== 'linux')
    throw moveError(file, reason, 'only on Linux can be found out whether it is in use');
  const owner = `${process.pid} ${startOf(process.pid)}`;
  const until = performance.now() + MAX_WAIT_MS;
  for (let number = 1; ;) {
    const claim = `${file.path}.claim-${number}`;
    try {
      symlinkSync(owner, claim);
      return claim;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    if (!mayBeAlive(claim)) number++;
    else if (performance.now() < until) pause(PAUSE_MS);
    else throw moveError(file, reason, `the process that made ${quote(claim)} has not finished`);
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

/** The error of a damaged or foreign database that stays where it is. */
export function moveError(
  { kind, path }: Pick<DatabaseFile, 'kind' | 'path'>,
  damage: string,
  why: string,
): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    `Expected the ${kind} database ${quote(path)} to be undamaged, but ${damage}. It was not moved aside, because ${why}. ` +
      'Close the programs that use it, and move the file away or use another `path`',
  );
}

/** Blocks: stores open their databases synchronously. */
export function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
