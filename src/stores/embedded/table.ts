import type { Clock } from '../../core/base/index.ts';
import { type Urgency, WriteBatches } from './write-batch.ts';

/** The three kinds of entries: values of the client, leases, and crawl slots. */
export type EntryKind = 'value' | 'lease' | 'slot';

/** An entry of the database, with its expiry. */
export interface Entry {
  /** The key as the caller gave it. */
  readonly key: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** Inside a transaction it may be memory that is reused when the transaction ends. */
  readonly content: Buffer;
}

/** Some entries, in the order of the database. */
export interface Page {
  readonly entries: readonly Entry[];
  /** The name after which the next page starts; empty after the last page. */
  readonly next: string;
}

/**
 * A database within this process, shared with other processes through its file. All methods but `transact` are
 * synchronous. Those that write run inside `transact` only.
 */
export interface EmbeddedDatabase {
  /** The entry, expired or not. Inside a transaction it is as that transaction left it. */
  find(kind: EntryKind, key: string): Entry | undefined;
  put(kind: EntryKind, entry: Entry): void;
  remove(kind: EntryKind, key: string): void;
  /** A number greater than that of any earlier lease. */
  countLease(): number;
  /** Deletes up to `limit` entries of any kind that have expired at `now`. @returns how many. */
  sweep(now: number, limit: number): number;
  /** Deletes up to `limit` entries of a kind. @returns how many. */
  removeSome(kind: EntryKind, limit: number): number;
  /**
   * Up to `limit` entries of a kind, expired ones too.
   *
   * @param after `next` of the page before; empty for the first one.
   */
  page(kind: EntryKind, after: string, limit: number): Page;
  /** Runs a read outside transactions, and repeats it while the database is locked. */
  whenFree<Result>(work: () => Result): Result | Promise<Result>;
  /**
   * Runs `work` in one write transaction, after those of other processes. Rejects when it cannot be committed; then nothing
   * is written.
   */
  transact(work: () => void): Promise<void>;
}

/** Expired entries deleted for each entry put. More than one, so that expired entries cannot accumulate. */
const SWEPT_PER_PUT = 4;

/** Entries per transaction, or per read, in operations on all of them. */
const PAGE = 256;

const TOKEN_DIGITS = 16;

/** The operations within a write transaction. */
export interface Writer {
  /** The entry, unless it has expired. */
  find(kind: EntryKind, key: string): Entry | undefined;
  put(kind: EntryKind, entry: Entry): void;
  remove(kind: EntryKind, key: string): void;
  /** A token greater than all earlier ones, compared as text. */
  nextToken(): string;
}

/** The unexpired entries of a database, and writes to it in batches. */
export class Table {
  readonly #database: EmbeddedDatabase;
  readonly #clock: Clock;
  readonly #batches: WriteBatches;
  /** The number of entries put in the current transaction. */
  #puts = 0;

  constructor(database: EmbeddedDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.#batches = new WriteBatches(
      (work) => database.transact(work),
      () => this.#sweepForPuts(),
    );
  }

  now(): number {
    return this.#clock.now();
  }

  find(kind: EntryKind, key: string): Entry | undefined {
    const entry = this.#database.find(kind, key);
    return entry !== undefined && entry.expiresAt > this.now() ? entry : undefined;
  }

  /** Runs a read, at once if the database is free. */
  read<Result>(work: () => Result): Result | Promise<Result> {
    return this.#database.whenFree(work);
  }

  /** Runs `work` in a transaction with other writes. The transaction also deletes a few expired entries. */
  write<Result>(urgency: Urgency, work: (writer: Writer) => Result, isSmall = true): Promise<Result> {
    return this.#batches.add({ urgency, work: () => work(this.#writer), isSmall });
  }

  /** Commits waiting writes without further delay, and from now on all later ones. */
  writeNow(): void {
    this.#batches.writeNow();
  }

  /** Resolves when no transaction is under way. */
  ended(): Promise<void> {
    return this.#batches.ended();
  }

  /** Deletes all expired entries, a page at a time. @returns how many. */
  sweep(): Promise<number> {
    return this.#pageByPage(() => this.#database.sweep(this.now(), PAGE));
  }

  /** Deletes all entries of a kind, a page at a time. */
  async clear(kind: EntryKind): Promise<void> {
    await this.#pageByPage(() => this.#database.removeSome(kind, PAGE));
  }

  /** Some unexpired entries of a kind, after those of the page before. */
  page(kind: EntryKind, after: string): Page {
    const { entries, next } = this.#database.page(kind, after, PAGE);
    const now = this.now();
    return { entries: entries.filter(({ expiresAt }) => expiresAt > now), next };
  }

  async #pageByPage(deleteSome: () => number): Promise<number> {
    let deleted = 0;
    for (let page = PAGE; page === PAGE;) {
      page = await this.write('now', deleteSome);
      deleted += page;
    }
    return deleted;
  }

  readonly #writer: Writer = {
    find: (kind, key) => this.find(kind, key),
    put: (kind, entry) => {
      this.#puts++;
      this.#database.put(kind, entry);
    },
    remove: (kind, key) => this.#database.remove(kind, key),
    nextToken: () => String(this.#database.countLease()).padStart(TOKEN_DIGITS, '0'),
  };

  #sweepForPuts(): void {
    const puts = this.#puts;
    this.#puts = 0;
    if (puts > 0) this.#database.sweep(this.now(), SWEPT_PER_PUT * puts);
  }
}
