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

/**
 * A database within this process, shared with other processes through its file. All methods but `transact` are
 * synchronous. Those that write run inside `transact` only.
 */
export interface EmbeddedDatabase {
  /** The entry, expired or not. Inside a transaction it is as that transaction left it. */
  find(kind: EntryKind, key: string): Entry | undefined;
  put(kind: EntryKind, entry: Entry): void;
  remove(kind: EntryKind, key: string): void;
  /** A number greater than those of all leases before. */
  countLease(): number;
  /** Deletes up to `limit` entries of any kind that have expired at `now`. @returns how many. */
  sweep(now: number, limit: number): number;
  /** Deletes up to `limit` entries of a kind. @returns how many. */
  removeSome(kind: EntryKind, limit: number): number;
  /** All entries of a kind, expired ones too, up to `limit` at a time. No transaction stays open between pages. */
  pages(kind: EntryKind, limit: number): Generator<readonly Entry[]>;
  /** Runs a read outside transactions, again if the database is locked just then. */
  whenFree<Result>(work: () => Result): Result | Promise<Result>;
  /**
   * Runs `work` in one write transaction, after those of other processes. Rejects when it cannot be committed; nothing
   * is written then.
   */
  transact(work: () => void): Promise<void>;
}
