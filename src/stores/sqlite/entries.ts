import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddedDatabase, Entry, EntryKind, Page } from '../embedded/table.ts';
import { BrokenTransaction } from '../embedded/write-batch.ts';
import { hasCode, type SqliteDatabase, SQLITE_BUSY, type SqliteStatement, rollBack } from './connection.ts';

/** The numbers of the kinds in the table. */
const KINDS: Readonly<Record<EntryKind, number>> = { value: 1, lease: 2, slot: 3 };

/** Later times do not exist in JavaScript. */
const LATEST = 8_640_000_000_000_000;

/** A transaction waits for those of other processes, this long at most. */
const LOCKED_MS = 10_000;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 8;

type Statements = Readonly<Record<keyof typeof SQL, SqliteStatement>>;

/** Entries in a table of SQLite. */
export class SqliteEntries implements EmbeddedDatabase {
  readonly #database: SqliteDatabase;
  readonly #statements: Statements;
  #isInTransaction = false;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    const prepare = (name: keyof typeof SQL): SqliteStatement => database.prepare(SQL[name]);
    this.#statements = {
      find: prepare('find'),
      put: prepare('put'),
      remove: prepare('remove'),
      countLease: prepare('countLease'),
      sweep: prepare('sweep'),
      removeSome: prepare('removeSome'),
      page: prepare('page'),
    };
    // From now on a locked database is an error at once, so that waiting for it never blocks this process. Not earlier:
    // if another process has just created the tables, SQLite reads the schema again for these statements, and reports a
    // missing table when it cannot, because the file is locked.
    database.exec('PRAGMA busy_timeout = 0');
  }

  find(kind: EntryKind, key: string): Entry | undefined {
    return this.#run(({ find }) => readEntry(find.get(KINDS[kind], nameOf(key))));
  }

  put(kind: EntryKind, { key, expiresAt, content }: Entry): void {
    const expiry = Math.min(Math.ceil(expiresAt), LATEST);
    this.#run(({ put }) => put.run(KINDS[kind], nameOf(key), expiry, content));
  }

  remove(kind: EntryKind, key: string): void {
    this.#run(({ remove }) => remove.run(KINDS[kind], nameOf(key)));
  }

  countLease(): number {
    return this.#run(({ countLease }) => {
      const { given } = Object(countLease.get());
      if (!Number.isSafeInteger(given)) throw new Error('Expected the database to count its leases');
      return Number(given);
    });
  }

  sweep(now: number, limit: number): number {
    return this.#run(({ sweep }) => sweep.all(now, limit).length);
  }

  removeSome(kind: EntryKind, limit: number): number {
    return this.#run(({ removeSome }) => removeSome.all(KINDS[kind], limit).length);
  }

  page(kind: EntryKind, after: string, limit: number): Page {
    const rows = this.#run(({ page }) => page.all(KINDS[kind], after, limit));
    const entries = rows.flatMap((row) => readEntry(row) ?? []);
    const { key } = Object(rows.length === limit ? rows.at(-1) : undefined);
    // Keys that are not text are not entries, and sort after all others.
    return { entries, next: typeof key === 'string' ? key : '' };
  }

  whenFree<Result>(work: () => Result): Promise<Result> {
    return whenFree(work);
  }

  async transact(work: () => void): Promise<void> {
    // Writes of this turn of the event loop share the transaction.
    await setImmediate();
    await whenFree(() => this.#database.exec('BEGIN IMMEDIATE'));
    this.#isInTransaction = true;
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      rollBack(this.#database);
      throw error instanceof BrokenTransaction ? error.cause : error;
    } finally {
      this.#isInTransaction = false;
    }
  }

  #run<Result>(work: (statements: Statements) => Result): Result {
    try {
      return work(this.#statements);
    } catch (error) {
      // SQLite rolls the transaction back after some errors, such as a full disk. Statements after it would be
      // transactions of their own.
      throw this.#isInTransaction ? new BrokenTransaction(error) : error;
    }
  }
}

const SQL = {
  find: 'SELECT key, expires_at, content FROM entry WHERE kind = ? AND key = ?',
  put: `INSERT INTO entry (kind, key, expires_at, content) VALUES (?, ?, ?, ?)
    ON CONFLICT (kind, key) DO UPDATE SET expires_at = excluded.expires_at, content = excluded.content`,
  remove: 'DELETE FROM entry WHERE kind = ? AND key = ?',
  countLease: 'UPDATE lease_count SET given = given + 1 RETURNING given',
  sweep: `DELETE FROM entry WHERE rowid IN (SELECT rowid FROM entry WHERE expires_at <= ? LIMIT ?) RETURNING 1`,
  removeSome: 'DELETE FROM entry WHERE rowid IN (SELECT rowid FROM entry WHERE kind = ? LIMIT ?) RETURNING 1',
  page: 'SELECT key, expires_at, content FROM entry WHERE kind = ? AND key > ? ORDER BY key LIMIT ?',
} as const;

/** A key in the table. JSON escapes NUL and lone surrogates, which texts of SQLite do not keep. */
const nameOf = (key: string): string => JSON.stringify(key);

/** Reads a row; `undefined` for anything else than an entry. */
function readEntry(row: unknown): Entry | undefined {
  const { key: name, expires_at: expiresAt, content }: Record<string, unknown> = Object(row);
  if (typeof name !== 'string' || typeof expiresAt !== 'number' || !(content instanceof Uint8Array))
    return undefined;
  try {
    const key: unknown = JSON.parse(name);
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    return typeof key === 'string' ? { key, expiresAt, content: bytes } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Runs `work` as soon as no other process locks the database for it. The waiting is done here, because SQLite's own
 * would block the process.
 */
async function whenFree<Result>(work: () => Result): Promise<Result> {
  const until = performance.now() + LOCKED_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return work();
    } catch (error) {
      if (!hasCode(error, SQLITE_BUSY) || performance.now() >= until) throw error;
    }
    // Random, so that waiting processes do not retry together.
    await sleep(pauseMs * (0.5 + Math.random()));
  }
}
