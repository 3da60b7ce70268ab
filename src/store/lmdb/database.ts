import { createRequire } from 'node:module';
import { isRobotsError, quote, RobotsInvalidOptionsError } from '../../base/index.ts';
import { type SetAside, setAsideIfDamaged } from './set-aside.ts';

/** What is used of a database opened with the package `lmdb`, with `encoding: 'binary'`. */
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
  /** What was in its place, when that was damaged. */
  readonly setAside: SetAside | undefined;
}

interface Lmdb {
  open(options: {
    readonly path: string;
    readonly encoding: 'binary';
    readonly eventTurnBatching: false;
    readonly overlappingSync: false;
    readonly noMetaSync: true;
  }): LmdbDatabase;
}

/**
 * Opens a database of the store's own. A damaged one is set aside first, and a new one begins.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when it cannot be opened; the `cause` says why.
 */
export function openDatabase(path: string): OpenedDatabase {
  const lmdb = loadLmdb();
  try {
    const setAside = setAsideIfDamaged(path);
    const database = lmdb.open({
      path,
      encoding: 'binary',
      // Batching by event turns leaves a promise of its own behind, and nobody to hear that its commit failed.
      eventTurnBatching: false,
      // One wait for the disk in place of two. What a power cut may take is the last that was written, nothing else:
      // "maintains database integrity, but a system crash may undo the last committed transaction" (lmdb.h).
      overlappingSync: false,
      noMetaSync: true,
    });
    return { database, setAside };
  } catch (cause) {
    if (isRobotsError(cause)) throw cause;
    throw new RobotsInvalidOptionsError(
      `Expected \`path\` to be a place where an LMDB database can be kept, got ${quote(path)}: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** An optional peer: loaded where it is used, so that a caller with a database of their own brings it themselves. */
function loadLmdb(): Lmdb {
  try {
    const library: Lmdb = createRequire(import.meta.url)('lmdb');
    return library;
  } catch (cause) {
    throw new RobotsInvalidOptionsError(
      `Expected the package \`lmdb\` to be there; install it with \`npm install lmdb\`: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/**
 * A database that the caller opened.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when it is opened in another way than the store needs.
 */
export function checkDatabase(database: LmdbDatabase): LmdbDatabase {
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

/**
 * Runs `work` in one write transaction. No other process writes meanwhile, so `work` is short and waits for nothing.
 *
 * Rejects when it cannot be committed, as on a full disk, with what the system said.
 */
export async function transact<Result>(database: LmdbDatabase, work: () => Result): Promise<Result> {
  const done = database.transaction(work);
  // A caller's database may batch by event turns: the promise of the batch, made in this turn, would fail unheard.
  setImmediate(() => database.committed.then(ignore, ignore));
  try {
    return await done;
  } catch (error) {
    throw await reasonOf(error);
  }
}

const ignore = (): void => undefined;

/** lmdb tells only in a second promise why a commit failed, and one that nobody hears would end the process. */
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
