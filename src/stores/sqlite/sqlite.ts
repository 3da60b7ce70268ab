import { randomUUID } from 'node:crypto';
import {
  assertKnownOptions,
  type Clock,
  messageOf,
  omitUndefined,
  quote,
  RobotsClosedError,
  RobotsInvalidOptionsError,
  systemClock,
} from '../../core/base/index.ts';
import { CLOCK_SKEW_MS } from '../../core/lifecycle/index.ts';
import { decodeValue, encodeValue } from '../../core/store/value-encoding.ts';
import {
  type DamagedDatabase,
  durationMs,
  type PauseCause,
  type RobotsStore,
  SLOT_REMEMBERED_MS,
  type StoreEntry,
  type StoreLease,
  type StorePause,
  type StoreReserveOptions,
  type StoreSetOptions,
  type StoreSlot,
} from '../../core/store/store.ts';
import { isBusy, openDatabase, prepareDatabase, rollBack, type SqliteDatabase } from './open-database.ts';

export type { DamagedDatabase, StoreEntry } from '../../core/store/store.ts';
export type { SqliteDatabase, SqliteStatement, SqliteValue } from './open-database.ts';

export interface SqliteStoreOptions {
  /**
   * A file, created if it is missing; two more, `…-wal` and `…-shm`, lie beside it. It must be on a local disk:
   * SQLite's write-ahead log does not work on network file systems.
   */
  readonly path: string;
}

/**
 * Makes a store for any number of processes on one machine, over `node:sqlite` (Node.js 22.13 or later) or `bun:sqlite`;
 * on older Node.js over the package `libsql`, or `better-sqlite3` 12, whichever is installed.
 *
 * Pass a file; or a database that you opened for the store alone, with one of these. The store sets such a database up
 * (WAL mode, tables), and does not close it.
 *
 * Calls of SQLite run in the thread of the caller; each takes a fraction of a millisecond. Errors of the database, such
 * as a full disk, reject the call. A damaged file (up to 64 MiB are checked) is renamed to `FILE.damaged-<time>`, a new
 * one is begun, and {@link SqliteStore.damaged} says so.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), also when there is no SQLite, or when the file is no
 * database, is another program's, or cannot be opened.
 *
 * @example
 * ```ts
 * import { RobotsClient } from 'canfetch';
 * import { sqliteStore } from 'canfetch/sqlite';
 *
 * const store = sqliteStore({ path: './robots.sqlite' });
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0', store });
 * // …
 * await robots.close();
 * await store.close();
 * ```
 */
export function sqliteStore(source: SqliteStoreOptions | SqliteDatabase): SqliteStore {
  if (!isDatabase(source)) {
    const { path }: Partial<SqliteStoreOptions> = Object(source);
    assertKnownOptions(Object(source), ['path']);
    if (typeof path === 'string' && path !== '') return openSqliteStore(path);
    throw new RobotsInvalidOptionsError(
      `Expected \`path\` to name a file, or an open database of SQLite, got ${quote(path)}`,
    );
  }
  try {
    prepareDatabase(source, 'the database');
    return new SqliteStore(source);
  } catch (cause) {
    if (cause instanceof RobotsInvalidOptionsError) throw cause;
    throw new RobotsInvalidOptionsError(
      `Expected an open database of SQLite that can be written: ${messageOf(cause)}`,
      { cause },
    );
  }
}

function isDatabase(source: SqliteStoreOptions | SqliteDatabase): source is SqliteDatabase {
  return typeof source === 'object' && source !== null && 'prepare' in source;
}

/** {@link sqliteStore} over a file, for commands that only read, and for tests. @internal */
export function openSqliteStore(
  path: string,
  { onDamage = 'rename', clock }: { readonly onDamage?: 'rename' | 'throw'; readonly clock?: Clock } = {},
): SqliteStore {
  const { database, damaged } = openDatabase(path, onDamage);
  return new SqliteStore(database, { isOwned: true, damaged, clock });
}

const SQL = {
  get: 'SELECT content FROM value WHERE key = ? AND expires_at > ?',
  // Of two values the later response wins, unless the stored one has expired or is from the future.
  set: `INSERT INTO value (key, recorded_at, expires_at, content) VALUES (?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE
    SET recorded_at = excluded.recorded_at, expires_at = excluded.expires_at, content = excluded.content
    WHERE excluded.recorded_at >= recorded_at OR expires_at <= ? OR recorded_at > ?`,
  delete: 'DELETE FROM value WHERE key = ?',
  sweep: 'DELETE FROM value WHERE rowid IN (SELECT rowid FROM value WHERE expires_at <= ? LIMIT ?)',
  // A lease from the future was taken before the clock was set back.
  lease: `INSERT INTO lease (key, holder, taken_at, expires_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE
    SET holder = excluded.holder, taken_at = excluded.taken_at, expires_at = excluded.expires_at
    WHERE expires_at <= excluded.taken_at OR taken_at > excluded.taken_at RETURNING 1`,
  release: 'DELETE FROM lease WHERE key = ? AND holder = ?',
  schedule:
    'SELECT slot_at, delay_ms, paused_until, written_at, cause FROM schedule WHERE key = ? AND expires_at > ?',
  move: `INSERT OR REPLACE INTO schedule (key, slot_at, delay_ms, paused_until, written_at, expires_at, cause)
    VALUES (?, ?, ?, ?, ?, ?, ?)`,
  page: 'SELECT key, expires_at, content FROM value WHERE key > ? AND expires_at > ? ORDER BY key LIMIT ?',
  clear: 'DELETE FROM value',
} as const;

type Statements = Readonly<Record<keyof typeof SQL, ReturnType<SqliteDatabase['prepare']>>>;

/** The schedule of a site that all processes share. Times are epoch ms, 0 for none. */
interface Schedule {
  readonly slotAt: number;
  /** The delay of that slot. */
  readonly delayMs: number;
  readonly pausedUntil: number;
  readonly cause: PauseCause | '';
}

function pauseOf({ pausedUntil, cause }: Schedule, now: number): StorePause {
  const pauseMs = Math.max(0, pausedUntil - now);
  return pauseMs === 0 || cause === '' ? { pauseMs } : { pauseMs, cause };
}

/** A write that waits for its transaction. */
interface QueuedWrite {
  readonly work: () => void;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Expired values deleted for each write. More than one, so that they cannot accumulate. */
const SWEPT_PER_WRITE = 4;
/** The longest time for which writes wait for the transactions of other processes. */
const MAX_BUSY_MS = 5_000;
const MAX_BUSY_PAUSE_MS = 10;
/** Records wait so long for others to share a transaction with, or until they are so many. */
const GATHER_MS = 20;
const GATHERED_WRITES = 100;
const PAGE = 256;

interface SqliteStoreSettings {
  /** Whether the store opened the database. */
  readonly isOwned: boolean;
  readonly damaged?: DamagedDatabase | undefined;
  readonly clock?: Clock | undefined;
}

/** `libsql` gives an `ArrayBuffer` where it gives several rows. */
function decodeContent(content: unknown): string | undefined {
  const bytes = content instanceof ArrayBuffer ? new Uint8Array(content) : content;
  return bytes instanceof Uint8Array ? decodeValue(bytes) : undefined;
}

/** A store in a database of SQLite. {@link sqliteStore} makes it. */
export class SqliteStore implements RobotsStore, AsyncDisposable {
  /** Set when the file was damaged: it was renamed and kept, and this store began a new one. */
  readonly damaged?: DamagedDatabase;
  readonly #database: SqliteDatabase;
  readonly #clock: Clock;
  readonly #isOwned: boolean;
  readonly #sql: Statements;
  #queue: QueuedWrite[] = [];
  #busySince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isCommitting = false;
  #closed: Promise<void> | undefined;

  /** @internal */
  constructor(database: SqliteDatabase, settings: SqliteStoreSettings = { isOwned: false }) {
    this.#database = database;
    this.#clock = settings.clock ?? systemClock;
    this.#isOwned = settings.isOwned;
    Object.assign(this, omitUndefined({ damaged: settings.damaged }));
    const names = Object.keys(SQL) as (keyof typeof SQL)[];
    this.#sql = Object.fromEntries(names.map((name) => [name, database.prepare(SQL[name])])) as Statements;
    const now = this.#clock.now();
    try {
      database.exec(
        `DELETE FROM lease WHERE expires_at <= ${now}; DELETE FROM schedule WHERE expires_at <= ${now}`,
      );
    } catch (error) {
      // Expired rows are not read, and the next process deletes them.
      if (!isBusy(error)) throw error;
    }
  }

  async get(key: string): Promise<string | undefined> {
    this.#assertOpen();
    const { content } = Object(this.#sql.get.get(key, this.#clock.now()));
    return decodeContent(content);
  }

  async set(key: string, value: string, { ttlMs, recordedAt }: StoreSetOptions): Promise<void> {
    const now = this.#clock.now();
    const expiresAt = Math.ceil(now + durationMs('ttlMs', ttlMs));
    const content = encodeValue(value);
    await this.#gather(() => {
      this.#sql.set.run(key, recordedAt ?? now, expiresAt, content, now, now + CLOCK_SKEW_MS);
    });
  }

  async delete(key: string): Promise<void> {
    await this.#write(() => void this.#sql.delete.run(key));
  }

  async lease(key: string, ttlMs: number): Promise<StoreLease | undefined> {
    durationMs('ttlMs', ttlMs);
    const holder = randomUUID();
    const taken = await this.#write(() => {
      const now = this.#clock.now();
      return this.#sql.lease.get(key, holder, now, now + ttlMs);
    });
    if (taken === undefined || taken === null) return undefined;
    return { release: () => this.#gather(() => void this.#sql.release.run(key, holder)) };
  }

  async reserve(key: string, delayMs: number, options: StoreReserveOptions = {}): Promise<StoreSlot> {
    durationMs('delayMs', delayMs);
    const minWaitMs = durationMs('minWaitMs', options.minWaitMs ?? 0);
    const { maxWaitMs = Infinity } = options;
    return this.#write(() => {
      const now = this.#clock.now();
      const before = this.#schedule(key, now);
      const { slotAt, pausedUntil } = before;
      const at = Math.max(now + minWaitMs, pausedUntil, slotAt + Math.max(delayMs, before.delayMs));
      if (at - now <= maxWaitMs) this.#move(key, { ...before, slotAt: at, delayMs }, now);
      return { waitMs: at - now, ...pauseOf(before, now) };
    });
  }

  async pause(key: string, pauseMs: number, cause?: PauseCause): Promise<StorePause> {
    durationMs('pauseMs', pauseMs);
    this.#assertOpen();
    if (pauseMs === 0) {
      const now = this.#clock.now();
      return pauseOf(this.#schedule(key, now), now);
    }
    return this.#write(() => {
      const now = this.#clock.now();
      const before = this.#schedule(key, now);
      if (before.pausedUntil >= now + pauseMs) return pauseOf(before, now);
      const after = { ...before, pausedUntil: now + pauseMs, cause: cause ?? '' } as const;
      this.#move(key, after, now);
      return pauseOf(after, now);
    });
  }

  /**
   * All values that have not expired. Values written or deleted during the iteration may or may not be included.
   *
   * @param isWanted Values of other keys are not unpacked, and left out.
   */
  async *entries(isWanted: (key: string) => boolean = () => true): AsyncIterable<StoreEntry> {
    for (let after: string | undefined = ''; after !== undefined;) {
      this.#assertOpen();
      const rows: unknown[] = this.#sql.page.all(after, this.#clock.now(), PAGE);
      after = undefined;
      for (const row of rows) {
        const { key, expires_at: expiresAt, content } = Object(row);
        if (rows.length === PAGE) after = key;
        const value = isWanted(key) ? decodeContent(content) : undefined;
        if (value !== undefined) yield { key, value, expiresAt };
      }
    }
  }

  /** Deletes all values. Leases and slots stay, because other processes rely on them. */
  async clear(): Promise<void> {
    await this.#write(() => void this.#sql.clear.run());
  }

  /**
   * Ends the writes that were asked for, and closes the database unless the caller opened it. Later calls reject with
   * `RobotsClosedError` (`ERR_ROBOTS_CLOSED`). Can be called twice.
   */
  close(): Promise<void> {
    const end = (): void => {
      if (this.#isOwned) this.#database.close();
    };
    this.#closed ??= this.#write(() => undefined).then(end, end);
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #assertOpen(): void {
    if (this.#closed !== undefined) throw new RobotsClosedError('SQLite store');
  }

  /** The time of the write is stored, so that a clock set back since lengthens no wait. */
  #schedule(key: string, now: number): Schedule {
    const row = Object(this.#sql.schedule.get(key, now));
    const {
      slot_at: slotAt = 0,
      delay_ms: delayMs = 0,
      paused_until: paused = 0,
      written_at: at = now,
      cause = '',
    } = row;
    const setBackMs = Math.max(0, at - now);
    return { slotAt: slotAt - setBackMs, delayMs, pausedUntil: paused - setBackMs, cause };
  }

  /** It is kept until the next slot can no longer depend on it. */
  #move(key: string, { slotAt, delayMs, pausedUntil, cause }: Schedule, now: number): void {
    const expiresAt = Math.max(now, slotAt, pausedUntil) + Math.max(delayMs, SLOT_REMEMBERED_MS);
    this.#sql.move.run(key, slotAt, delayMs, pausedUntil, now, expiresAt, cause);
  }

  /** Runs `work` in a transaction at the end of this turn of the event loop, with all that waits for one. */
  #write<Result>(work: () => Result): Promise<Result> {
    const written = this.#enqueue(work);
    this.#commitIn('this turn');
    return written;
  }

  /** Runs `work` in a transaction soon: nobody waits for records, and a transaction costs more than a record in it. */
  #gather<Result>(work: () => Result): Promise<Result> {
    const written = this.#enqueue(work);
    this.#commitIn(this.#queue.length < GATHERED_WRITES ? GATHER_MS : 'this turn');
    return written;
  }

  #enqueue<Result>(work: () => Result): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#assertOpen();
      let result: Result;
      this.#queue.push({ work: () => (result = work()), resolve: () => resolve(result), reject });
    });
  }

  #commitIn(time: number | 'this turn'): void {
    // A transaction that waits for another process will take these writes along.
    if (this.#busySince !== undefined || this.#isCommitting) return;
    if (time !== 'this turn') {
      this.#timer ??= setTimeout(this.#commit, time);
      return;
    }
    this.#isCommitting = true;
    setImmediate(this.#commit);
  }

  readonly #commit = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isCommitting = false;
    if (this.#queue.length === 0) return;
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      this.#busySince = undefined;
    } catch (error) {
      this.#busySince ??= performance.now();
      if (isBusy(error) && performance.now() - this.#busySince < MAX_BUSY_MS) {
        this.#timer = setTimeout(this.#commit, MAX_BUSY_PAUSE_MS * Math.random());
        return;
      }
      this.#busySince = undefined;
      for (const { reject } of this.#queue.splice(0)) reject(error);
      return;
    }
    const writes = this.#queue.splice(0);
    try {
      for (const { work } of writes) work();
      this.#sql.sweep.run(this.#clock.now(), SWEPT_PER_WRITE * writes.length);
      this.#database.exec('COMMIT');
      for (const { resolve } of writes) resolve();
    } catch (error) {
      rollBack(this.#database);
      for (const { reject } of writes) reject(error);
    }
  };
}
