import { readSync } from 'node:fs';

/** The file is damaged. The message says how. */
export class DamageError extends Error {}

/** A B+ tree of an LMDB database. */
export interface Tree {
  readonly flags: number;
  readonly depth: number;
  /** `undefined` for an empty tree. */
  readonly root: number | undefined;
}

/** The content of a meta page. */
export interface Meta {
  readonly pageSize: number;
  readonly environmentFlags: number;
  readonly free: Tree;
  readonly main: Tree;
  readonly lastPage: number;
  readonly transaction: number;
}

const PAGE_HEADER = 24;
const NODE_HEADER = 8;
const TREE_BYTES = 48;
const OVERFLOW_REFERENCE_BYTES = 24;
const FIRST_DATA_PAGE = 2;
/** The depth of the page stack in `mdb.c`. */
const MAX_DEPTH = 32;

const PAGE_FLAG = { branch: 1, leaf: 2, overflow: 4, fixedSize: 32 } as const;
const NODE_FLAG = { big: 1, tree: 2, duplicates: 4 } as const;
const DUPLICATES_IN_TREE = 4;

/**
 * The most leaf pages read: 64 MiB of 4 KiB pages. In larger databases all branch pages are read and the positions of
 * all leaf pages are checked, but not the contents of all leaf pages.
 */
const MAX_LEAF_PAGES = 16_384;

/** Walks all pages of the newest snapshot. */
export class PageWalk {
  private readonly descriptor: number;
  private readonly pages: number;
  private readonly meta: Meta;
  /** One bit a page: "each non-metapage is reachable exactly once in the snapshot" (`mdb.c`). */
  private readonly seen: Uint8Array;
  private leavesLeft = MAX_LEAF_PAGES;

  constructor(descriptor: number, fileBytes: number, meta: Meta) {
    this.descriptor = descriptor;
    this.meta = meta;
    this.pages = Math.min(Math.floor(fileBytes / meta.pageSize), meta.lastPage + 1);
    this.seen = new Uint8Array(Math.ceil((meta.lastPage + 1) / 8));
  }

  walk(): void {
    this.tree(this.meta.main, 'the main tree', undefined);
    this.tree(this.meta.free, 'the tree of free pages', (data, where) => this.freePages(data, where));
  }

  private tree(
    { root, depth, flags }: Tree,
    where: string,
    onData: ((data: Buffer, where: string) => void) | undefined,
  ): void {
    if (root === undefined) return;
    if (!(depth >= 1 && depth <= MAX_DEPTH)) throw new DamageError(`${where} has a depth of ${depth}`);
    this.page(root, depth, flags, where, onData);
  }

  private page(
    number: number,
    depth: number,
    treeFlags: number,
    tree: string,
    onData: ((data: Buffer, where: string) => void) | undefined,
  ): void {
    const where = `page ${number} of ${tree}`;
    this.claim(number, 1, where);
    const isLeaf = depth === 1;
    if (isLeaf && onData === undefined && this.leavesLeft-- <= 0) return;
    const page = this.header(number, where);
    const flags = page.readUInt16LE(18);
    const kind = isLeaf ? PAGE_FLAG.leaf : PAGE_FLAG.branch;
    if (!((flags & 0xf) === kind))
      throw new DamageError(`${where} is not a ${isLeaf ? 'leaf' : 'branch'} page`);
    const [lower, upper] = [page.readUInt16LE(20), page.readUInt16LE(22)];
    const room = this.meta.pageSize - PAGE_HEADER;
    if (!(lower <= upper && upper <= room && lower % 2 === 0))
      throw new DamageError(`${where} has invalid bounds`);
    // Fixed-size keys without node headers occur only in trees of duplicates, which are not checked.
    if (!((flags & PAGE_FLAG.fixedSize) === 0)) throw new DamageError(`${where} has unexpected page flags`);
    for (let index = 0; index < lower / 2; index++) {
      const at = PAGE_HEADER + page.readUInt16LE(PAGE_HEADER + 2 * index);
      const ends = at + NODE_HEADER;
      if (!(at >= PAGE_HEADER + lower && ends <= page.length && at % 2 === 0))
        throw new DamageError(`${where} has a node outside its bounds`);
      const dataAt = ends + page.readUInt16LE(at + 6);
      if (!(dataAt <= page.length)) throw new DamageError(`${where} has a key that extends past its end`);
      if (isLeaf) this.leafNode(page, at, dataAt, treeFlags, where, onData);
      else {
        const child =
          page.readUInt16LE(at) + page.readUInt16LE(at + 2) * 2 ** 16 + page.readUInt16LE(at + 4) * 2 ** 32;
        this.page(child, depth - 1, treeFlags, tree, onData);
      }
    }
  }

  private leafNode(
    page: Buffer,
    at: number,
    dataAt: number,
    treeFlags: number,
    where: string,
    onData: ((data: Buffer, where: string) => void) | undefined,
  ): void {
    const size = page.readUInt32LE(at);
    const flags = page.readUInt16LE(at + 4);
    if (!(flags <= 7)) throw new DamageError(`${where} has a node with invalid flags`);
    if ((flags & NODE_FLAG.duplicates) !== 0) {
      // A named database of another user, with duplicates. Its content is not checked.
      if (!((treeFlags & DUPLICATES_IN_TREE) !== 0))
        throw new DamageError(`${where} has duplicate values in a tree without duplicates`);
      return;
    }
    const isBig = (flags & NODE_FLAG.big) !== 0;
    const isTree = (flags & NODE_FLAG.tree) !== 0;
    if (isBig && isTree) throw new DamageError(`${where} has a node with invalid flags`);
    if (!(dataAt + (isBig ? OVERFLOW_REFERENCE_BYTES : size) <= page.length))
      throw new DamageError(`${where} has a value that extends past its end`);
    if (isTree) {
      if (!(size === TREE_BYTES)) throw new DamageError(`${where} has a tree of the wrong size`);
      const tree = readTree(page, dataAt);
      if ((tree.flags & DUPLICATES_IN_TREE) === 0) this.tree(tree, 'a named tree', undefined);
    } else if (isBig) this.overflow(page, dataAt, size, where, onData);
    else onData?.(page.subarray(dataAt, dataAt + size), where);
  }

  private overflow(
    page: Buffer,
    at: number,
    size: number,
    from: string,
    onData: ((data: Buffer, where: string) => void) | undefined,
  ): void {
    const number = readPageNumber(page, at);
    const count = readPageNumber(page, at + 16);
    const where = `page ${number}, a value of ${from},`;
    if (!(count === Math.floor((PAGE_HEADER - 1 + size) / this.meta.pageSize) + 1))
      throw new DamageError(`${where} does not have the length of its value`);
    this.claim(number, count, where);
    const header = this.header(number, where, PAGE_HEADER);
    if (!(header.readUInt16LE(18) === PAGE_FLAG.overflow))
      throw new DamageError(`${where} is not an overflow page`);
    if (!(header.readUInt32LE(20) === count))
      throw new DamageError(`${where} has another length in its header`);
    onData?.(read(this.descriptor, number * this.meta.pageSize + PAGE_HEADER, size, where), where);
  }

  /**
   * Checks a list of free pages. Its length comes first; a negative number is the count of pages from the next number
   * on.
   */
  private freePages(list: Buffer, where: string): void {
    if (!(list.length >= 8)) throw new DamageError(`${where} has a list of free pages without a length`);
    const length = Number(list.readBigInt64LE(0));
    if (!(length >= 0 && 8 * (length + 1) <= list.length))
      throw new DamageError(`${where} has a list of free pages that extends past its end`);
    let count = 1;
    for (let index = 1; index <= length; index++) {
      const entry = Number(list.readBigInt64LE(8 * index));
      if (entry < 0) count = -entry;
      else if (entry > 0) {
        const last = entry + count - 1;
        if (!(entry >= FIRST_DATA_PAGE && last <= this.meta.lastPage))
          throw new DamageError(`${where} lists free pages outside the file`);
        this.mark(entry, count, where);
        count = 1;
      }
    }
  }

  private header(number: number, where: string, bytes: number = this.meta.pageSize): Buffer {
    const page = read(this.descriptor, number * this.meta.pageSize, bytes, where);
    if (!(readPageNumber(page, 0) === number)) throw new DamageError(`${where} has the wrong page number`);
    // LMDB would take a page newer than the snapshot for its own and write to the map, which is read-only.
    if (!(readPageNumber(page, 8) <= this.meta.transaction))
      throw new DamageError(`${where} is newer than the database`);
    return page;
  }

  private claim(number: number, count: number, where: string): void {
    const isInside = number >= FIRST_DATA_PAGE && count >= 1 && number + count <= this.pages;
    if (!isInside) throw new DamageError(`${where} is not in the file`);
    this.mark(number, count, where);
  }

  private mark(number: number, count: number, where: string): void {
    for (let page = number; page < number + count; page++) {
      const [at, bit] = [page >>> 3, 1 << (page & 7)];
      const octet = this.seen[at] ?? 0;
      if (!((octet & bit) === 0)) throw new DamageError(`${where} is used twice`);
      this.seen[at] = octet | bit;
    }
  }
}

export function readTree(octets: Buffer, at: number): Tree {
  const isEmpty =
    octets.readUInt32LE(at + 40) === 0xffff_ffff && octets.readUInt32LE(at + 44) === 0xffff_ffff;
  return {
    flags: octets.readUInt16LE(at + 4),
    depth: octets.readUInt16LE(at + 6),
    root: isEmpty ? undefined : readPageNumber(octets, at + 40),
  };
}

export function read(descriptor: number, position: number, length: number, where: string): Buffer {
  const octets = Buffer.allocUnsafe(length);
  for (let done = 0; done < length;) {
    const count = readSync(descriptor, octets, done, length - done, position + done);
    if (!(count > 0)) throw new DamageError(`${where} is not in the file`);
    done += count;
  }
  return octets;
}

/** Numbers above 2^53 lose precision here; no database is that large. */
export function readPageNumber(octets: Buffer, at: number): number {
  return octets.readUInt32LE(at) + octets.readUInt32LE(at + 4) * 2 ** 32;
}
