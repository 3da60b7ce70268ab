import type { EmbeddedDatabase, Entry, EntryKind } from '../embedded/table.ts';
import { type LmdbDatabase, type LmdbEntry, type LmdbRange, transact } from './database.ts';
import {
  decodeEntry,
  encodeEntry,
  indexBefore,
  indexEntry,
  nameOf,
  namesOf,
  readIndexEntry,
  wholeExpiry,
} from './entry-codec.ts';

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

  *pages(kind: EntryKind, limit: number): Generator<readonly Entry[]> {
    const names = { ...namesOf(kind), limit };
    for (let range: LmdbRange | undefined = names; range !== undefined;) {
      const found: LmdbEntry[] = [...this.#database.getRange(range)];
      yield found.flatMap(({ key, value }) => decodeEntry(String(key), value) ?? []);
      const last = found.length === limit ? found.at(-1) : undefined;
      range = last && { ...names, start: String(last.key), exclusiveStart: true };
    }
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
