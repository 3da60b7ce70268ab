import type { EmbeddedDatabase, Entry, EntryKind } from '../embedded/database.ts';
import { type LmdbDatabase, type LmdbEntry, type LmdbRange, transact } from './database.ts';
import {
  decodeRecord,
  encodeRecord,
  indexBefore,
  indexEntry,
  nameOf,
  namesOf,
  readIndexEntry,
  wholeExpiry,
} from './record.ts';

const NOTHING = Buffer.alloc(0);

/** The name of the entry that holds the number of leases given. */
const LEASES = 't';

/**
 * Entries in LMDB. An index by expiry is in the same database, so that expired entries are found without a scan.
 */
export class LmdbEntries implements EmbeddedDatabase {
  private readonly database: LmdbDatabase;

  constructor(database: LmdbDatabase) {
    this.database = database;
  }

  find(kind: EntryKind, key: string): Entry | undefined {
    const name = nameOf(kind, key);
    const entry = decodeRecord(name, this.database.get(name));
    // The key in the entry guards against a collision of digests.
    return entry?.key === key ? entry : undefined;
  }

  put(kind: EntryKind, entry: Entry): void {
    const name = nameOf(kind, entry.key);
    const expiresAt = wholeExpiry(entry.expiresAt);
    const before = decodeRecord(name, this.database.get(name));
    if (before !== undefined && before.expiresAt !== expiresAt) {
      void this.database.remove(indexEntry(before.expiresAt, name));
    }
    void this.database.put(name, encodeRecord(name, { ...entry, expiresAt }));
    void this.database.put(indexEntry(expiresAt, name), NOTHING);
  }

  remove(kind: EntryKind, key: string): void {
    this.removeNamed(nameOf(kind, key));
  }

  countLease(): number {
    const last = this.database.get(LEASES);
    const count = last instanceof Uint8Array ? Number(Buffer.from(last).toString()) + 1 : 1;
    // Padded, as in databases of earlier versions.
    void this.database.put(LEASES, Buffer.from(String(count).padStart(16, '0')));
    return count;
  }

  sweep(now: number, limit: number): number {
    const due = { start: indexBefore(0), end: indexBefore(now + 1), limit };
    const expired = [...this.database.getKeys(due)].map(String);
    for (const each of expired) {
      const { expiresAt, name } = readIndexEntry(each);
      const entry = decodeRecord(name, this.database.get(name));
      void this.database.remove(each);
      if (entry === undefined || entry.expiresAt === expiresAt) void this.database.remove(name);
    }
    return expired.length;
  }

  removeSome(kind: EntryKind, limit: number): number {
    const names = [...this.database.getKeys({ ...namesOf(kind), limit })].map(String);
    for (const name of names) this.removeNamed(name);
    return names.length;
  }

  *pages(kind: EntryKind, limit: number): Generator<readonly Entry[]> {
    const names = { ...namesOf(kind), limit };
    for (let range: LmdbRange | undefined = names; range !== undefined;) {
      const found: LmdbEntry[] = [...this.database.getRange(range)];
      yield found.flatMap(({ key, value }) => decodeRecord(String(key), value) ?? []);
      const last = found.length === limit ? found.at(-1) : undefined;
      range = last && { ...names, start: String(last.key), exclusiveStart: true };
    }
  }

  /** Readers of LMDB never wait for anybody. */
  async read<Result>(work: () => Result): Promise<Result> {
    return work();
  }

  transact(work: () => void): Promise<void> {
    return transact(this.database, work);
  }

  private removeNamed(name: string): void {
    const entry = decodeRecord(name, this.database.get(name));
    if (entry !== undefined) void this.database.remove(indexEntry(entry.expiresAt, name));
    void this.database.remove(name);
  }
}
