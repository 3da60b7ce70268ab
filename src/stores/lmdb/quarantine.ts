import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
  fstatSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { codeOf, quote, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import {
  type DatabaseFile,
  isLocked,
  makeFolder,
  moveError,
  type OnDamage,
  type QuarantinedDatabase,
  quarantineIfDamaged,
} from '../embedded/quarantine.ts';
import { type Probe, probe } from './probe.ts';
import { createHash } from 'node:crypto';

/** Errors of `lmdb.h` for a damaged file: MDB_INVALID, MDB_PANIC, MDB_CORRUPTED, MDB_PAGE_NOTFOUND. */
const DAMAGE_CODES: ReadonlySet<unknown> = new Set([-30793, -30795, -30796, -30797]);
/** MDB_MAGIC and MDB_DATA_VERSION of `mdb.c`, in the first page. */
const MAGIC = 0xbeefc0de;
const DATA_FORMAT = 2;
const PAGE_BYTES = [256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536];
/** Where a meta page has its signature: after the header of the page and a pointer. */
const MAGIC_AT = 24;
/** Up to and including the page size of the meta page. */
const HEAD_BYTES = 52;

/** More than LMDB needs to open a database. */
const FREE_BYTES = 64 * 1024;

/** The file that LMDB opens for `path`: in a folder, or, if it has an extension, the file itself. */
export function lmdbFile(path: string): string {
  // Absolute, because the working directory may be another one when the database is closed.
  return extname(path) === '' ? resolve(path, 'data.mdb') : resolve(path);
}

/** The same for all names of one file; `undefined` when there is none. */
export function lmdbFileId(data: string): string | undefined {
  try {
    const { dev, ino } = statSync(data);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/**
 * Renames the database at `path` if it is damaged. A new one, and one that was not opened or changed since
 * {@link markLmdbClosed}, counts as sound: only others are first opened in a child process.
 *
 * @param library The file of the package `lmdb`.
 * @returns the database that was moved; `undefined` when it is sound.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the database is damaged and cannot be moved, is
 * of a format that LMDB cannot read, or when the disk is full.
 */
export function quarantineDamagedLmdb(
  path: string,
  library: string,
  onDamage: OnDamage,
): QuarantinedDatabase | undefined {
  const data = lmdbFile(path);
  const lock = extname(path) === '' ? resolve(path, 'lock.mdb') : `${data}-lock`;
  makeFolder(dirname(data));
  const file: DatabaseFile = {
    kind: 'LMDB',
    path: data,
    companions: [],
    // LMDB holds a lock on the lock file while it has the database open.
    locks: [lock],
    isDatabase: () => hasSignature(data) || hasCleanShutdownMarker(data) || existsSync(lock),
    damage: () => {
      const inHead = damageOfHead(data);
      if (inHead !== undefined) return inHead;
      // Check for a full disk first: consuming the marker frees space.
      if (!isFull(dirname(data)) && consumeCleanShutdownMarker(data)) return undefined;
      const found = probe(library, path, isLocked(lock) ? 'shared' : 'alone');
      if (found.kind === 'crashed' && isFull(dirname(data))) throw fullDisk(path);
      return damageOf(found);
    },
  };
  return quarantineIfDamaged(file, onDamage);
}

function damageOf(found: Probe): string | undefined {
  if (found.kind === 'sound') return undefined;
  // LMDB reports anything else, such as a missing permission, when it is opened here.
  if (found.kind === 'refused' && !DAMAGE_CODES.has(found.code)) return undefined;
  return found.reason;
}

/**
 * The damage of the first page that LMDB would not notice; `undefined` for a file of anything else.
 *
 * @throws RobotsInvalidOptionsError for an intact database of a format that this version of LMDB cannot read: it may be
 * another program's.
 */
function damageOfHead(data: string): string | undefined {
  const head = startOf(data, HEAD_BYTES);
  if (head?.getUint32(MAGIC_AT, true) !== MAGIC) return undefined;
  const format = head.getUint32(28, true) & 0xffff;
  if (format !== DATA_FORMAT) {
    const reason = `it is an LMDB database with data format ${format}, expected ${DATA_FORMAT}`;
    throw moveError({ kind: 'LMDB', path: data }, reason, 'it may belong to another program');
  }
  const pageBytes = head.getUint32(48, true);
  return PAGE_BYTES.includes(pageBytes) ? undefined : `its pages have ${pageBytes} bytes`;
}

/** Whether one of the two meta pages, the first pages of the file, has LMDB's signature. */
function hasSignature(data: string): boolean {
  const start = startOf(data, Math.max(...PAGE_BYTES) + HEAD_BYTES);
  return (
    start !== undefined && [0, ...PAGE_BYTES].some((page) => start.getUint32(page + MAGIC_AT, true) === MAGIC)
  );
}

/** The first bytes of a file, and zeros after its end; `undefined` when it cannot be read: LMDB will throw the reason. */
function startOf(data: string, bytes: number): DataView | undefined {
  const start = new DataView(new ArrayBuffer(bytes));
  try {
    const descriptor = openSync(data, 'r');
    try {
      readSync(descriptor, start);
    } finally {
      closeSync(descriptor);
    }
    return start;
  } catch {
    return undefined;
  }
}

/** Whether the disk is full. LMDB writes its lock file through memory, so that a full disk ends the process. */
function isFull(folder: string): boolean {
  let beside: string | undefined;
  try {
    beside = mkdtempSync(join(folder, '.canfetch-'));
    writeFileSync(join(beside, 'free'), Buffer.alloc(FREE_BYTES));
    return false;
  } catch (error) {
    // LMDB reports any other error itself.
    return ['ENOSPC', 'EDQUOT'].includes(codeOf(error));
  } finally {
    if (beside !== undefined) rmSync(beside, { recursive: true, force: true });
  }
}

function fullDisk(path: string): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    `Expected free disk space for an LMDB database at ${quote(path)}, but the disk is full; free some, or use another \`path\``,
  );
}

/** Reading a larger database takes longer than starting a process. */
const MAX_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/**
 * Writes a marker with the digest of the data file beside it. Call it after the database is closed, so that it is opened
 * faster.
 *
 * If that fails, or the file is large, the marker is missing or wrong, and the next process probes the database before
 * it opens it.
 */
export function markLmdbClosed(data: string): void {
  try {
    const digest = digestOf(data);
    if (digest !== undefined) writeFileSync(markOf(data), digest);
  } catch {
    // The disk may be full.
  }
}

/**
 * Whether the data file is unchanged since the last {@link markLmdbClosed}, or does not exist yet. Call it right
 * before the database is opened.
 *
 * It removes the marker: if the process dies before it closes the database, the next one finds no marker, even if no byte
 * has changed.
 */
function consumeCleanShutdownMarker(data: string): boolean {
  try {
    const { size } = statSync(data, { throwIfNoEntry: false }) ?? { size: 0 };
    if (size === 0) return true;
    const mark = readFileSync(markOf(data), 'utf8');
    if (!mark.startsWith(`${size} `) || mark !== digestOf(data)) return false;
    rmSync(markOf(data), { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Whether there is a marker beside the data file, valid or not: the file was a database once. */
function hasCleanShutdownMarker(data: string): boolean {
  return existsSync(markOf(data));
}

const markOf = (data: string): string => `${data}.closed`;

/** The size and the digest of the file; `undefined` if it is too large. */
function digestOf(data: string): string | undefined {
  const descriptor = openSync(data, 'r');
  try {
    if (fstatSync(descriptor).size > MAX_BYTES) return undefined;
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let size = 0;
    for (let read = -1; read !== 0; size += read) {
      read = readSync(descriptor, chunk);
      hash.update(chunk.subarray(0, read));
    }
    return `${size} ${hash.digest('hex')}`;
  } finally {
    closeSync(descriptor);
  }
}
