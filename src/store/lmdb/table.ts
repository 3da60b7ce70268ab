import type { Clock } from '../../base/index.ts';
import { type LmdbDatabase, type LmdbEntry, type LmdbRange } from './database.ts';
import { type Urgency, WriteBatches } from './write-batch.ts';
import {
  decodeRecord,
  encodeRecord,
  indexBefore,
  indexEntry,
  type LmdbRecord,
  nameOf,
  namesOf,
  readIndexEntry,
  type RecordKind,
  wholeExpiry,
} from './record.ts';

/** Expired records deleted for each record put. More than one, so that expired records cannot accumulate. */
const SWEPT_PER_PUT = 4;

/** Records per transaction, or per read, in operations on all of them. */
const PAGE = 256;

const NOTHING = Buffer.alloc(0);

/** The name of the entry that holds the last fencing token. */
const TOKEN = 't';
const TOKEN_DIGITS = 16;

/** The operations within a write transaction. */
export interface LmdbWriter {
  /** The record, unless it has expired. */
  find(kind: RecordKind, key: string): LmdbRecord | undefined;
  put(kind: RecordKind, record: LmdbRecord): void;
  remove(kind: RecordKind, key: string): void;
  /** A token greater than all before it, compared as text. */
  nextToken(): string;
  /** Deletes up to `limit` expired records of any kind. @returns how many. */
  sweep(limit: number): number;
}

/**
 * Records with an expiry. An index by expiry is in the same database, so that expired records are found without a
 * scan.
 */
export class LmdbTable {
  private readonly database: LmdbDatabase;
  private readonly clock: Clock;
  private readonly batches: WriteBatches;
  /** The number of records put in the current transaction. */
  private puts = 0;

  constructor(database: LmdbDatabase, clock: Clock) {
    this.database = database;
    this.clock = clock;
    this.batches = new WriteBatches(database, () => this.sweepForPuts());
  }

  now(): number {
    return this.clock.now();
  }

  find(kind: RecordKind, key: string): LmdbRecord | undefined {
    const name = nameOf(kind, key);
    const record = decodeRecord(name, this.database.get(name));
    // The key in the record guards against a collision of digests.
    return record?.key === key && record.expiresAt > this.now() ? record : undefined;
  }

  /** Runs `work` in a transaction with other writes. The transaction also deletes a few expired records. */
  write<Result>(urgency: Urgency, work: (writer: LmdbWriter) => Result, isSmall = true): Promise<Result> {
    return this.batches.add({ urgency, work: () => work(this.writer), isSmall });
  }

  /** Commits waiting writes without further delay, and from now on all later ones. */
  writeNow(): void {
    this.batches.writeNow();
  }

  /** Deletes all expired records, a page at a time. @returns how many. */
  async sweep(): Promise<number> {
    let swept = 0;
    for (let page = PAGE; page === PAGE;) {
      page = await this.write('now', (writer) => writer.sweep(PAGE));
      swept += page;
    }
    return swept;
  }

  /** Deletes all records of a kind, a page at a time. */
  async clear(kind: RecordKind): Promise<void> {
    const range = { ...namesOf(kind), limit: PAGE };
    for (let page = PAGE; page === PAGE;) {
      page = await this.write('now', () => {
        const names = [...this.database.getKeys(range)].map(String);
        for (const name of names) this.removeNamed(name);
        return names.length;
      });
    }
  }

  /** All unexpired records of a kind, by name, a page at a time. No transaction stays open between pages. */
  *pages(kind: RecordKind): Generator<readonly LmdbRecord[]> {
    const names = { ...namesOf(kind), limit: PAGE };
    for (let range: LmdbRange | undefined = names; range !== undefined;) {
      const entries: LmdbEntry[] = [...this.database.getRange(range)];
      const now = this.now();
      yield entries.flatMap(({ key, value }) => {
        const record = decodeRecord(String(key), value);
        return record !== undefined && record.expiresAt > now ? [record] : [];
      });
      const last = entries.length === PAGE ? entries.at(-1) : undefined;
      range = last && { ...names, start: String(last.key), exclusiveStart: true };
    }
  }

  private readonly writer: LmdbWriter = {
    find: (kind, key) => this.find(kind, key),
    put: (kind, record) => {
      this.puts++;
      const name = nameOf(kind, record.key);
      const expiresAt = wholeExpiry(record.expiresAt);
      const before = decodeRecord(name, this.database.get(name));
      if (before !== undefined && before.expiresAt !== expiresAt) {
        void this.database.remove(indexEntry(before.expiresAt, name));
      }
      void this.database.put(name, encodeRecord(name, { ...record, expiresAt }));
      void this.database.put(indexEntry(expiresAt, name), NOTHING);
    },
    remove: (kind, key) => this.removeNamed(nameOf(kind, key)),
    nextToken: () => {
      const last = this.database.get(TOKEN);
      const count = last instanceof Uint8Array ? Number(Buffer.from(last).toString()) : 0;
      const token = String(count + 1).padStart(TOKEN_DIGITS, '0');
      void this.database.put(TOKEN, Buffer.from(token));
      return token;
    },
    sweep: (limit) => {
      const due = { start: indexBefore(0), end: indexBefore(this.now() + 1), limit };
      const entries = [...this.database.getKeys(due)].map(String);
      for (const entry of entries) {
        const { expiresAt, name } = readIndexEntry(entry);
        const record = decodeRecord(name, this.database.get(name));
        void this.database.remove(entry);
        if (record === undefined || record.expiresAt === expiresAt) void this.database.remove(name);
      }
      return entries.length;
    },
  };

  private sweepForPuts(): void {
    const { puts } = this;
    this.puts = 0;
    if (puts > 0) this.writer.sweep(SWEPT_PER_PUT * puts);
  }

  private removeNamed(name: string): void {
    const record = decodeRecord(name, this.database.get(name));
    if (record !== undefined) void this.database.remove(indexEntry(record.expiresAt, name));
    void this.database.remove(name);
  }
}
