import type { EmbeddedDatabase, Entry, EntryKind, Page } from '../embedded/table.ts';
import { type LmdbDatabase, transact } from './database.ts';
import { createHash } from 'node:crypto';

const NOTHING = Buffer.alloc(0);

/** The name of the entry with the highest reserved lease number. */
const LEASES = 't';

/** Lease numbers reserved at once: the maximum number of writes in one transaction. */
const LEASES_RESERVED = 256;

/** Values read in the current transaction. Other processes cannot write before it ends. */
interface Transaction {
  /** The entries read or written so far, by name. */
  readonly entries: Map<string, Entry | undefined>;
  /** The last lease given, and the last number reserved. */
  lease: number;
  reserved: number;
}

/**
 * Entries in LMDB. An index by expiry is in the same database, so that expired entries are found without a scan.
 */
export class LmdbEntries implements EmbeddedDatabase {
  readonly #database: LmdbDatabase;
  #transaction: Transaction | undefined;

  constructor(database: LmdbDatabase) {
    this.#database = database;
  }

  find(kind: EntryKind, key: string): Entry | undefined {
    const entry = this.#read(nameOf(kind, key));
    // The key in the entry guards against a collision of digests.
    return entry?.key === key ? entry : undefined;
  }

  put(kind: EntryKind, entry: Entry): void {
    const name = nameOf(kind, entry.key);
    const expiresAt = wholeExpiry(entry.expiresAt);
    const before = this.#read(name);
    if (before !== undefined && before.expiresAt !== expiresAt) {
      void this.#database.remove(indexEntry(before.expiresAt, name));
    }
    const after: Entry = { key: entry.key, expiresAt, content: entry.content };
    void this.#database.put(name, encodeEntry(name, after));
    void this.#database.put(indexEntry(expiresAt, name), NOTHING);
    this.#transaction?.entries.set(name, after);
  }

  remove(kind: EntryKind, key: string): void {
    this.#removeNamed(nameOf(kind, key));
  }

  countLease(): number {
    const transaction = this.#transaction ?? { entries: new Map(), lease: 0, reserved: 0 };
    if (transaction.lease === transaction.reserved) {
      const last = this.#database.get(LEASES);
      const lease = last instanceof Uint8Array ? Number(Buffer.from(last).toString()) : 0;
      const reserved = lease + LEASES_RESERVED;
      // Padded, as in databases of earlier versions.
      void this.#database.put(LEASES, Buffer.from(String(reserved).padStart(16, '0')));
      transaction.lease = lease;
      transaction.reserved = reserved;
    }
    return ++transaction.lease;
  }

  sweep(now: number, limit: number): number {
    const due = { start: indexBefore(0), end: indexBefore(now + 1), limit };
    const expired = [...this.#database.getKeys(due)].map(String);
    for (const each of expired) {
      const { expiresAt, name } = readIndexEntry(each);
      const entry = this.#read(name);
      void this.#database.remove(each);
      if (entry === undefined || entry.expiresAt === expiresAt) this.#removeEntry(name);
    }
    return expired.length;
  }

  removeSome(kind: EntryKind, limit: number): number {
    const names = [...this.#database.getKeys({ ...namesOf(kind), limit })].map(String);
    for (const name of names) this.#removeNamed(name);
    return names.length;
  }

  page(kind: EntryKind, after: string, limit: number): Page {
    const { start, end } = namesOf(kind);
    const range = { start: after || start, end, limit, exclusiveStart: true };
    const found = [...this.#database.getRange(range)];
    const entries = found.flatMap(({ key, value }) => decodeEntry(String(key), value) ?? []);
    return { entries, next: found.length === limit ? String(found.at(-1)?.key) : '' };
  }

  /** LMDB readers never wait. */
  whenFree<Result>(work: () => Result): Result {
    return work();
  }

  transact(work: () => void): Promise<void> {
    return transact(this.#database, () => {
      this.#transaction = { entries: new Map(), lease: 0, reserved: 0 };
      try {
        work();
      } finally {
        this.#transaction = undefined;
      }
    });
  }

  /** The entry of a name. */
  #read(name: string): Entry | undefined {
    const entries = this.#transaction?.entries;
    if (entries?.has(name) === true) return entries.get(name);
    const entry = decodeEntry(name, this.#database.get(name));
    entries?.set(name, entry);
    return entry;
  }

  #removeNamed(name: string): void {
    const entry = this.#read(name);
    if (entry !== undefined) void this.#database.remove(indexEntry(entry.expiresAt, name));
    this.#removeEntry(name);
  }

  #removeEntry(name: string): void {
    void this.#database.remove(name);
    this.#transaction?.entries.set(name, undefined);
  }
}

/** Prefixes by kind, so that names of one kind are adjacent. `x` is the index of all names by expiry. */
const LETTERS: Readonly<Record<EntryKind, string>> = { value: 'v', lease: 'l', slot: 's' };

/** LMDB accepts 1,978 bytes on pages of 4 KiB, fewer on smaller ones. Index entries are longer than the name. */
const MAX_NAME_BYTES = 400;

/** Keys without any of the characters below: the usual case. */
const PRINTABLE_ASCII = /^[ -~]*$/;

/** Version of the layout, in the first byte. */
const LAYOUT = 1;
/**
 * Bytes of the header: layout, six for the expiry, two for the length of the key if the name does not contain it.
 */
const HEADER_BYTES = 9;
/** The latest time that fits six bytes, and nine digits of base 36: a day in the year 5188. */
const LATEST = 36 ** 9 - 1;

/**
 * The name of an entry. A key that is too long for LMDB, or has characters that its key encoding confuses (control
 * characters, lone surrogates), is replaced by its digest; the entry then contains the key.
 */
export function nameOf(kind: EntryKind, key: string): string {
  if (key.length <= MAX_NAME_BYTES && PRINTABLE_ASCII.test(key)) return `${LETTERS[kind]}=${key}`;
  if (Buffer.byteLength(key) <= MAX_NAME_BYTES && !/[\p{Cc}\p{Surrogate}]/u.test(key)) {
    return `${LETTERS[kind]}=${key}`;
  }
  const digest = createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('base64url');
  return `${LETTERS[kind]}#${digest}`;
}

/** The range of all names of a kind; `end` is exclusive. */
function namesOf(kind: EntryKind): { readonly start: string; readonly end: string } {
  const letter = LETTERS[kind];
  return { start: letter, end: String.fromCharCode(letter.charCodeAt(0) + 1) };
}

/** The index entry for the expiry of a name. Entries sort by time. */
function indexEntry(expiresAt: number, name: string): string {
  return indexBefore(expiresAt) + name;
}

/** Sorts before every entry of that time and after every earlier one. */
function indexBefore(time: number): string {
  return `x${Math.min(Math.max(time, 0), LATEST).toString(36).padStart(9, '0')}`;
}

function readIndexEntry(entry: string): { readonly expiresAt: number; readonly name: string } {
  return { expiresAt: Number.parseInt(entry.slice(1, 10), 36), name: entry.slice(10) };
}

/** Rounds up to a whole millisecond, within what the layout can hold. */
function wholeExpiry(expiresAt: number): number {
  return Math.min(Math.ceil(expiresAt), LATEST);
}

export function encodeEntry(name: string, { key, expiresAt, content }: Entry): Buffer {
  // JSON escapes lone surrogates, so that UTF-8 keeps them.
  const inside = Buffer.from(name[1] === '#' ? JSON.stringify(key) : '');
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(LAYOUT, 0);
  header.writeUIntBE(expiresAt, 1, 6);
  header.writeUInt16BE(inside.length, 7);
  return Buffer.concat([header, inside, content]);
}

/** Decodes an entry; `undefined` for anything else. */
function decodeEntry(name: string, stored: unknown): Entry | undefined {
  if (!(stored instanceof Uint8Array) || stored.length < HEADER_BYTES) return undefined;
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  if (bytes.readUInt8(0) !== LAYOUT) return undefined;
  const expiresAt = bytes.readUIntBE(1, 6);
  const start = HEADER_BYTES + bytes.readUInt16BE(7);
  try {
    const inside = bytes.subarray(HEADER_BYTES, start).toString();
    const key: unknown = name[1] === '#' ? JSON.parse(inside) : name.slice(2);
    return typeof key === 'string' ? { key, expiresAt, content: bytes.subarray(start) } : undefined;
  } catch {
    return undefined;
  }
}
