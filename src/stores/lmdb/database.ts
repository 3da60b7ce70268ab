import { createRequire } from 'node:module';
import { isRobotsError, quote, RobotsInvalidOptionsError, ignore } from '../../core/base/index.ts';
import type { OnDamage, QuarantinedDatabase } from '../embedded/quarantine.ts';
import { MAX_READERS } from './probe.ts';
import { lmdbFile, lmdbFileId, markLmdbClosed, quarantineDamagedLmdb } from './quarantine.ts';
import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { inspect } from 'node:util';
import { isMainThread } from 'node:worker_threads';

/** The part of a database of the package `lmdb` (opened with `encoding: 'binary'`) that is used. */
export interface LmdbDatabase {
  readonly committed: PromiseLike<unknown>;
  get(key: string): unknown;
  put(key: string, value: Uint8Array): PromiseLike<boolean>;
  remove(key: string): PromiseLike<boolean>;
  getKeys(options: LmdbRange): Iterable<unknown>;
  getRange(options: LmdbRange): Iterable<LmdbEntry>;
  transaction<Result>(work: () => Result): Promise<Result>;
  close(): Promise<void>;
}

export interface LmdbEntry {
  readonly key: unknown;
  readonly value: unknown;
}

export interface LmdbRange {
  readonly start: string;
  readonly end: string;
  readonly limit: number;
  readonly exclusiveStart?: boolean;
}

export interface OpenedDatabase {
  readonly database: LmdbDatabase;
  /** The damaged database that was replaced, if any. */
  readonly quarantine: QuarantinedDatabase | undefined;
  readonly close: () => Promise<void>;
}

interface Lmdb {
  open(options: {
    readonly path: string;
    readonly encoding: 'binary';
    readonly eventTurnBatching: false;
    readonly overlappingSync: false;
    readonly noMetaSync: true;
    readonly maxReaders: number;
  }): LmdbDatabase;
}

/** The open databases by their files, and how many stores use each. */
const opened = new Map<string, { readonly database: LmdbDatabase; stores: number }>();

/**
 * Opens the store's own database. Stores of one file share it: `lmdb` opens a database in a write transaction, for which
 * the main thread waits, while another transaction of this process waits for the main thread.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when it cannot be opened; see its `cause`.
 */
export function openDatabase(path: string, onDamage: OnDamage): OpenedDatabase {
  const data = lmdbFile(path);
  const file = lmdbFileId(data);
  const shared = file === undefined ? undefined : opened.get(file);
  if (file === undefined || shared === undefined) return openNew(path, data, onDamage);
  shared.stores++;
  return { database: shared.database, quarantine: undefined, close: () => closeShared(data, file) };
}

/** The last store of a file closes the database. */
async function closeShared(data: string, file: string): Promise<void> {
  const shared = opened.get(file);
  if (shared === undefined || --shared.stores > 0) return;
  opened.delete(file);
  await shared.database.close();
  markLmdbClosed(data);
}

function openNew(path: string, data: string, onDamage: OnDamage): OpenedDatabase {
  const { lmdb, library } = loadLmdb();
  try {
    const quarantine = quarantineDamagedLmdb(path, library, onDamage);
    const database = lmdb.open({
      path,
      encoding: 'binary',
      // Batching by event turns creates a second promise. If its commit failed, the rejection would be unhandled.
      eventTurnBatching: false,
      // One disk sync per commit instead of two. A power failure may lose the last transaction only: "maintains
      // database integrity, but a system crash may undo the last committed transaction" (lmdb.h).
      overlappingSync: false,
      noMetaSync: true,
      maxReaders: MAX_READERS,
    });
    assertServed(database);
    const file = lmdbFileId(data) ?? randomUUID();
    opened.set(file, { database, stores: 1 });
    return { database, quarantine, close: () => closeShared(data, file) };
  } catch (cause) {
    if (isRobotsError(cause)) throw cause;
    throw new RobotsInvalidOptionsError(
      `Expected \`path\` to be a folder that can hold an LMDB database, got ${quote(path)}: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** Loads the optional peer on use. Callers with a database of their own bring it themselves. */
function loadLmdb(): { readonly lmdb: Lmdb; readonly library: string } {
  try {
    const require = createRequire(import.meta.url);
    const lmdb: Lmdb = require('lmdb');
    return { lmdb, library: require.resolve('lmdb') };
  } catch (cause) {
    // Node lists the files that required it, one per line.
    const [reason = ''] = messageOf(cause).split('\n');
    throw new RobotsInvalidOptionsError(
      `Expected the package \`lmdb\` to be installed; run \`npm install lmdb\`: ${reason}`,
      { cause },
    );
  }
}

/**
 * Checks a database that the caller opened.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when it was opened with other options than the
 * store needs.
 */
export function checkDatabase(database: LmdbDatabase): LmdbDatabase {
  assertServed(database);
  if (typeof database.transaction !== 'function') {
    throw new RobotsInvalidOptionsError('Expected a database opened for writing, got one for reading only');
  }
  const encoding: unknown = Reflect.get(database, 'encoding');
  if (encoding !== 'binary') {
    throw new RobotsInvalidOptionsError(
      `Expected a database opened with \`encoding: 'binary'\`, got one with ${quote(encoding ?? 'msgpack')}`,
    );
  }
  for (const option of ['dupSort', 'useVersions', 'cache', 'keyEncoding', 'keyEncoder'] as const) {
    const value: unknown = Reflect.get(database, option);
    if (!value || (option === 'keyEncoding' && value === 'ordered-binary')) continue;
    throw new RobotsInvalidOptionsError(`Expected a database opened without \`${option}\``);
  }
  return database;
}

/** lmdb 2.0 and earlier do not report the result of a batch, so that a failed one would end the process. */
function assertServed(database: LmdbDatabase): void {
  if (Reflect.has(database, 'committed') || typeof database.transaction !== 'function') return;
  throw new RobotsInvalidOptionsError(
    'Expected a database of lmdb 2.1 or later, got one without `committed`; update the package `lmdb`',
  );
}

/**
 * Runs `work` in one write transaction. It blocks writers of all processes, so `work` must be short and synchronous.
 *
 * Rejects with the system's error when it cannot be committed, as on a full disk.
 */
export async function transact<Result>(database: LmdbDatabase, work: () => Result): Promise<Result> {
  const begun = awaitTransaction();
  try {
    // Throws when the caller has closed its database.
    const done = database.transaction(() => {
      begun();
      return work();
    });
    // A caller's database may batch by event turns. Handle the batch's promise too, so that its rejection is not
    // unhandled.
    setImmediate(() => database.committed.then(ignore, ignore));
    return await done;
  } catch (error) {
    throw await reasonOf(error);
  } finally {
    begun();
  }
}

/** lmdb gives the reason of a failed commit in a second promise, which must be handled too. */
async function reasonOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error;
  try {
    await error.commitError;
    return error;
  } catch (cause) {
    return new Error(`LMDB could not commit: ${messageOf(cause)}`, { cause });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Transactions that were requested and have not begun. */
let waiting = 0;
/** The uncaught error that ends this process, if any. */
let fatal: { readonly error: unknown } | undefined;
let isPrepared = false;

/**
 * Records that a transaction was requested.
 *
 * `lmdb` begins it in a thread of its own, which then waits for the event loop. `process.exit()` stops the loop and
 * waits for that thread: the process would never end, so a signal ends it.
 *
 * @returns a function to call when the transaction begins, or fails before that. It may be called twice.
 */
function awaitTransaction(): () => void {
  if (!isPrepared) prepare();
  waiting++;
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    waiting--;
  };
}

function prepare(): void {
  isPrepared = true;
  // The end of a worker thread is not that of the process.
  if (!isMainThread) return;
  process.on('uncaughtExceptionMonitor', (error) => {
    fatal = { error };
    // If the error is handled, the process continues and gets here.
    queueMicrotask(() => (fatal = undefined));
  });
  process.on('exit', (code) => {
    if (waiting === 0) return;
    // Node would print the error after this.
    if (fatal !== undefined) writeSync(2, `${inspect(fatal.error)}\n`);
    writeSync(
      2,
      `canfetch: the process ends with ${code} while the LMDB store writes. SIGKILL ends it, because lmdb would wait ` +
        'for ever; call `close()` of the store before `process.exit()`\n',
    );
    process.kill(process.pid, 'SIGKILL');
  });
}
