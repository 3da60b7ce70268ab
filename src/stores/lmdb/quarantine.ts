import { closeSync, mkdirSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { codeOf, quote, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { isLocked, moveError, type QuarantinedDatabase, setAsideIfDamaged } from '../embedded/set-aside.ts';
import { writeCleanShutdownMarker, consumeCleanShutdownMarker } from './clean-shutdown-marker.ts';
import { type Probe, probe } from './probe.ts';

/** Errors of `lmdb.h` that tell of a damaged file: MDB_INVALID, MDB_PANIC, MDB_CORRUPTED, MDB_PAGE_NOTFOUND. */
const DAMAGE_CODES: ReadonlySet<unknown> = new Set([-30793, -30795, -30796, -30797]);
/** MDB_MAGIC and MDB_DATA_VERSION of `mdb.c`, in the first page. */
const MAGIC = 0xbeefc0de;
const DATA_FORMAT = 2;
const PAGE_BYTES: ReadonlySet<number> = new Set([
  256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536,
]);
/** Up to the size of a page, behind format, address and size of the memory. */
const HEAD_BYTES = 52;

/** More than LMDB needs to open a database. */
const ROOM_BYTES = 64 * 1024;

/** The two files that LMDB opens for `path`: in a folder, or, if it has an extension, the file itself. */
function filesAt(path: string): { readonly data: string; readonly lock: string } {
  return extname(path) === ''
    ? { data: join(path, 'data.mdb'), lock: join(path, 'lock.mdb') }
    : { data: path, lock: `${path}-lock` };
}

/**
 * Sets the database at `path` aside if it is damaged. A new one, and one that nobody has opened or changed since
 * {@link markLmdbClosed}, is taken to be sound: only others are opened in a process of their own first.
 *
 * @param library The file of the package `lmdb`.
 * @returns the database that was moved; `undefined` when it is sound.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the database is damaged and cannot be moved, is
 * of a format that LMDB cannot read, or when the disk has no room for it.
 */
export function setDamagedLmdbAside(path: string, library: string): QuarantinedDatabase | undefined {
  const { data, lock } = filesAt(path);
  return setAsideIfDamaged({
    kind: 'LMDB',
    path: data,
    companions: [],
    // LMDB holds a lock on the lock file while it has the database open.
    locks: [lock],
    damage: () => {
      const inHead = damageOfHead(data);
      if (inHead !== undefined) return inHead;
      // In this order: to take the mark away makes a little room.
      if (!isFull(dirname(data)) && consumeCleanShutdownMarker(data)) return undefined;
      const found = probe(library, path, isLocked(lock) ? 'shared' : 'alone');
      if (found.kind === 'crashed' && isFull(dirname(data))) throw fullDisk(path);
      return damageOf(found);
    },
  });
}

/** Call it when the database at `path` is closed, so that it is opened faster. */
export function markLmdbClosed(path: string): void {
  writeCleanShutdownMarker(filesAt(path).data);
}

function damageOf(found: Probe): string | undefined {
  if (found.kind === 'sound') return undefined;
  // Of anything else, such as a missing permission, LMDB tells by itself when it is opened here.
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
  const head = new DataView(new ArrayBuffer(HEAD_BYTES));
  try {
    const descriptor = openSync(data, 'r');
    try {
      readSync(descriptor, head);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // There is no file yet, or LMDB will tell why it cannot be read.
    return undefined;
  }
  if (head.getUint32(24, true) !== MAGIC) return undefined;
  const format = head.getUint32(28, true) & 0xffff;
  if (format !== DATA_FORMAT) {
    const reason = `it is an LMDB database with data format ${format}, expected ${DATA_FORMAT}`;
    throw moveError({ kind: 'LMDB', path: data }, reason, 'it may belong to another program');
  }
  const pageBytes = head.getUint32(48, true);
  return PAGE_BYTES.has(pageBytes) ? undefined : `its pages have ${pageBytes} bytes`;
}

/** Whether the disk has no room. LMDB writes its lock file through memory, so that a full disk ends the process. */
function isFull(folder: string): boolean {
  let beside: string | undefined;
  try {
    mkdirSync(folder, { recursive: true });
    beside = mkdtempSync(join(folder, '.canfetch-'));
    writeFileSync(join(beside, 'room'), Buffer.alloc(ROOM_BYTES));
    return false;
  } catch (error) {
    // Of anything else LMDB tells by itself.
    return ['ENOSPC', 'EDQUOT'].includes(codeOf(error));
  } finally {
    if (beside !== undefined) rmSync(beside, { recursive: true, force: true });
  }
}

function fullDisk(path: string): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    `Expected room for an LMDB database at ${quote(path)}, but the disk is full; make room, or use another \`path\``,
  );
}
