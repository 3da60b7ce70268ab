import { closeSync, fstatSync, openSync } from 'node:fs';
import { DamageError, type Meta, PageWalk, read, readPageNumber, readTree } from './database-pages.ts';

/**
 * Checks the file of an LMDB database before LMDB maps it into memory: LMDB trusts the numbers in its pages, so a
 * damaged one makes it read outside the file, which ends the process with SIGSEGV or SIGBUS.
 *
 * The layout is that of `mdb.c`, data format 2, on 64-bit little-endian machines: a page header of 24 octets, two meta
 * pages, and B+ trees of branch, leaf and overflow pages. On other machines nothing is checked.
 */

/** `sound`: no damage was found. A missing or empty file is sound too, because LMDB creates its content. */
export type FileCheck =
  | { readonly kind: 'sound' }
  | { readonly kind: 'damaged'; readonly reason: string }
  /** An intact database of a format that this version of LMDB cannot read. */
  | { readonly kind: 'foreign'; readonly reason: string }
  /** Another process wrote during the check, so the pages read may belong to different snapshots. */
  | { readonly kind: 'changing' };

/** On other machines numbers are shorter, or big-endian. */
const HAS_KNOWN_LAYOUT = ['x64', 'arm64', 'loong64', 'riscv64'].includes(process.arch);
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
/** The data format versions of LMDB 0.9 and of development versions. */
const OTHER_VERSIONS: ReadonlySet<number> = new Set([1, 999]);
const META_END = 168;

const META_PAGE = 8;
const OVERLAPPING_SYNC = 0x1000;

/** A database of another data format. */
class ForeignFormatError extends Error {}

/** Checks a database file. `how`: the two meta pages only, or every page. */
export function checkDatabaseFile(file: string, how: 'header' | 'pages'): FileCheck {
  if (!HAS_KNOWN_LAYOUT) return { kind: 'sound' };
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    // There is no file yet, or LMDB will report why it cannot be read.
    return { kind: 'sound' };
  }
  try {
    return checkOpened(descriptor, how);
  } finally {
    closeSync(descriptor);
  }
}

function checkOpened(descriptor: number, how: 'header' | 'pages'): FileCheck {
  const stats = fstatSync(descriptor);
  if (!stats.isFile() || stats.size === 0) return { kind: 'sound' };
  let meta: Meta | undefined;
  try {
    meta = latestMeta(descriptor, stats.size);
    if (how === 'pages') new PageWalk(descriptor, stats.size, meta).walk();
    return { kind: 'sound' };
  } catch (error) {
    if (error instanceof ForeignFormatError) return { kind: 'foreign', reason: error.message };
    if (!(error instanceof DamageError)) throw error;
    return meta !== undefined && hasChanged(descriptor, meta)
      ? { kind: 'changing' }
      : { kind: 'damaged', reason: error.message };
  }
}

function hasChanged(descriptor: number, before: Meta): boolean {
  try {
    return latestMeta(descriptor, fstatSync(descriptor).size).transaction !== before.transaction;
  } catch {
    return false;
  }
}

/** The meta page that LMDB will use, after checking both: LMDB itself checks only the first. */
function latestMeta(descriptor: number, fileBytes: number): Meta {
  const head = read(descriptor, 0, META_END, 'the first meta page');
  const first = readMeta(head, 0, fileBytes);
  const second = readMeta(read(descriptor, first.pageSize, META_END, 'the second meta page'), 1, fileBytes);
  if (!(second.pageSize === first.pageSize))
    throw new DamageError('its meta pages have different page sizes');
  const [older, newer] = first.transaction < second.transaction ? [first, second] : [second, first];
  // "Transaction N writes meta page #(N % 2)", so that the last two are there. Overlapping syncs roll back.
  const mayRollBack = ((first.environmentFlags | second.environmentFlags) & OVERLAPPING_SYNC) !== 0;
  if (!(mayRollBack || newer.transaction === 0 || newer.transaction === older.transaction + 1))
    throw new DamageError(
      `its meta pages have transaction numbers ${first.transaction} and ${second.transaction}, which do not follow each other`,
    );
  return newer;
}

function readMeta(page: Buffer, number: 0 | 1, fileBytes: number): Meta {
  const name = number === 0 ? 'the first meta page' : 'the second meta page';
  if (!((page.readUInt16LE(18) & META_PAGE) !== 0))
    throw new DamageError(`${name} is not marked as a meta page`);
  if (!(page.readUInt32LE(24) === MAGIC)) throw new DamageError(`${name} does not have LMDB's magic number`);
  const version = page.readUInt32LE(28) & 0xffff;
  if (OTHER_VERSIONS.has(version)) {
    throw new ForeignFormatError(
      `it is an LMDB database with data format ${version}, expected ${DATA_VERSION}`,
    );
  }
  if (version !== DATA_VERSION) throw new DamageError(`${name} has data format ${version}`);
  if (!(readPageNumber(page, 0) === number)) throw new DamageError(`${name} has the wrong page number`);
  const pageSize = page.readUInt32LE(48);
  if (!(pageSize >= 512 && pageSize <= 65_536 && (pageSize & (pageSize - 1)) === 0))
    throw new DamageError(`${name} has an invalid page size of ${pageSize}`);
  const lastPage = readPageNumber(page, 144);
  // The last pages may have been freed before they were written, but not many times the size of the file.
  const mostPages = (2 * fileBytes) / pageSize + 65_536;
  if (!(lastPage >= 1 && lastPage <= mostPages))
    throw new DamageError(`${name} has an invalid last page number of ${lastPage}`);
  const transaction = readPageNumber(page, 152);
  if (!(transaction === 0 || transaction % 2 === number))
    throw new DamageError(
      `${name} has transaction number ${transaction}, which belongs to the other meta page`,
    );
  return {
    pageSize,
    environmentFlags: page.readUInt16LE(52),
    free: readTree(page, 48),
    main: readTree(page, 96),
    lastPage,
    transaction,
  };
}
