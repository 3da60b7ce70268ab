import {
  assertKnownOptions,
  type Clock,
  invalid,
  quote,
  RobotsClosedError,
  RobotsInvalidOptionsError,
  systemClock,
} from '../../base/index.ts';
import { decompress } from '../record/compress.ts';
import { withoutFence } from '../record/fence.ts';
import {
  cacheChannels,
  type FencedLease,
  milliseconds,
  type RobotsStore,
  type StoreLeaseOptions,
  type StoreSetOptions,
  SLOT_REMEMBERED_MS,
} from '../store.ts';
import { checkDatabase, type LmdbDatabase, openDatabase } from './database.ts';
import type { SetAside } from './set-aside.ts';
import { LmdbTable, type LmdbWriter } from './table.ts';
import { PendingChanges } from './pending-changes.ts';

export type { FencedLease } from '../store.ts';
export type { LmdbDatabase, LmdbEntry, LmdbRange } from './database.ts';
export type { SetAside } from './set-aside.ts';
export type { RobotsStore, StoreLease, StoreLeaseOptions, StoreSetOptions } from '../store.ts';

export interface LmdbStoreOptions {
  /** A folder, created if it is missing. It must be on a local disk: LMDB does not work on network file systems. */
  readonly path: string;
  /** Clock for expiry, leases and slots. @default the system clock, which all processes of the machine share */
  readonly clock?: Clock;
}

/** A value that has not expired. */
export interface StoreEntry {
  readonly key: string;
  readonly value: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export interface LmdbStore extends RobotsStore, AsyncDisposable {
  /**
   * Set when the database at `path` was damaged: it was renamed and kept, and this store started with a new one. Also
   * published as an event `set-aside` on the channel `canfetch:store` of `node:diagnostics_channel`.
   */
  readonly setAside?: SetAside;
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, options: StoreSetOptions): Promise<void>;
  delete(key: string): Promise<void>;
  lease(key: string, ttlMs: number, options?: StoreLeaseOptions): Promise<FencedLease | undefined>;
  reserve(key: string, delayMs: number): Promise<number>;
  /** All values that have not expired. Values written or deleted during the iteration may or may not be included. */
  entries(): AsyncIterable<StoreEntry>;
  /**
   * Deletes everything that has expired. Each write already deletes some of it. The space is reused; the file does
   * not shrink.
   *
   * @returns the number of values, leases and slots deleted.
   */
  sweep(): Promise<number>;
  /** Deletes all values. Leases and slots stay, because other processes rely on them. */
  clear(): Promise<void>;
  /**
   * Waits for pending writes, and closes the database unless the caller opened it. Later calls reject with
   * `RobotsClosedError` (`ERR_ROBOTS_CLOSED`). Can be called twice.
   */
  close(): Promise<void>;
}

/**
 * Makes a store for any number of processes on one machine. It needs the package `lmdb`.
 *
 * Pass a folder; or a database that you opened with `lmdb` for the store alone, as `open({ path, encoding: 'binary'
 * })` or `root.openDB({ name: 'robots', encoding: 'binary' })`. Errors of the database, such as a full disk, reject
 * the call; `lmdb` prints them too.
 *
 * LMDB trusts the contents of its file, and a damaged file would end the process. So the file is checked before it is
 * opened. A damaged one is renamed, kept beside the new one, and reported in {@link LmdbStore.setAside}. All
 * processes that use a folder must share a process table: not containers with separate process ids.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), also when the package is missing, or when the
 * database cannot be opened, or is damaged while another process has it open.
 *
 * @example
 * ```ts
 * import { RobotsClient } from 'canfetch';
 * import { lmdbStore } from 'canfetch/lmdb';
 *
 * const store = lmdbStore({ path: './robots-cache' });
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0', store });
 * // …
 * await robots.close();
 * await store.close();
 * ```
 */
export function lmdbStore(source: LmdbStoreOptions | LmdbDatabase): LmdbStore {
  if (isDatabase(source)) return storeOn(checkDatabase(source), systemClock, () => Promise.resolve());
  const { path, clock } = readOptions(source);
  const { database, setAside } = openDatabase(path);
  const store = storeOn(database, clock, () => database.close());
  if (setAside === undefined) return store;
  cacheChannels.store.publish({ type: 'set-aside', ...setAside });
  return { ...store, setAside };
}

function storeOn(database: LmdbDatabase, clock: Clock, closeDatabase: () => Promise<void>): LmdbStore {
  const table = new LmdbTable(database, clock);
  const pendingChanges = new PendingChanges(table);
  const pending = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  /** A closed database must not be used, so it is closed only after pending calls. */
  const open = <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (closed !== undefined) return Promise.reject(new RobotsClosedError('LMDB store'));
    const done = work();
    const settled: Promise<boolean> = done.then(
      () => pending.delete(settled),
      () => pending.delete(settled),
    );
    pending.add(settled);
    return done;
  };

  const close = (): Promise<void> => {
    table.writeNow();
    closed ??= Promise.all(pending).then(closeDatabase);
    return closed;
  };

  const release = (key: string, token: string): Promise<void> =>
    open(() => table.write('soon', (writer) => giveBack(writer, key, token)));

  return {
    get: (key) =>
      open(async () => {
        const waiting = pendingChanges.find(key);
        if (waiting !== undefined) return waiting.value;
        const record = table.find('value', key);
        return record && decompress(withoutFence(record.content));
      }),
    set: (key, value, options) => open(() => pendingChanges.set(key, value, options)),
    delete: (key) => open(() => pendingChanges.delete(key)),
    lease: (key, ttlMs, { valueKey } = {}) =>
      open(async () => {
        const ttl = milliseconds('ttlMs', ttlMs);
        let content: Buffer | undefined;
        const token = await table.write('now', (writer) => {
          if (writer.find('lease', key) !== undefined) return undefined;
          const next = writer.nextToken();
          writer.put('lease', { key, content: Buffer.from(next), expiresAt: table.now() + ttl });
          // LMDB may use the memory for something else when the transaction has ended.
          content = valueKey === undefined ? undefined : copyOf(writer.find('value', valueKey)?.content);
          return next;
        });
        if (token === undefined) return undefined;
        const lease = { token, release: () => release(key, token) };
        if (valueKey === undefined) return lease;
        return {
          ...lease,
          value: (content && (await decompress(withoutFence(content)))) ?? null,
          setAndRelease: (value, { ttlMs: valueTtlMs }) =>
            open(() =>
              pendingChanges.set(valueKey, value, { ttlMs: valueTtlMs, fence: token }, (writer) =>
                giveBack(writer, key, token),
              ),
            ),
        };
      }),
    reserve: (key, delayMs) =>
      open(async () => {
        const delay = milliseconds('delayMs', delayMs);
        const slot = await table.write('now', (writer) => {
          const last = Number(writer.find('slot', key)?.content.toString() ?? Number.NaN);
          const now = table.now();
          const next = Number.isFinite(last) ? Math.max(now, last + delay) : now;
          const expiresAt = next + Math.max(delay, SLOT_REMEMBERED_MS);
          writer.put('slot', { key, content: Buffer.from(String(next)), expiresAt });
          return next;
        });
        return Math.max(0, slot - table.now());
      }),
    async *entries() {
      const pages = table.pages('value');
      for (;;) {
        const page = await open(async () => pages.next());
        if (page.done === true) return;
        for (const { key, content, expiresAt } of page.value) {
          const value = await decompress(withoutFence(content));
          if (value !== undefined) yield { key, value, expiresAt };
        }
      }
    },
    sweep: () => open(() => table.sweep()),
    clear: () => open(() => table.clear('value')),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function giveBack(writer: LmdbWriter, key: string, token: string): void {
  if (writer.find('lease', key)?.content.toString() === token) writer.remove('lease', key);
}

const copyOf = (octets: Buffer | undefined): Buffer | undefined => octets && Buffer.from(octets);

function isDatabase(source: LmdbStoreOptions | LmdbDatabase): source is LmdbDatabase {
  return typeof source === 'object' && source !== null && 'getRange' in source;
}

function readOptions(options: LmdbStoreOptions): Required<LmdbStoreOptions> {
  const given: Partial<LmdbStoreOptions> = Object(options);
  assertKnownOptions(given, ['path', 'clock']);
  const { path, clock = systemClock } = given;
  if (typeof path !== 'string' || path === '') {
    throw new RobotsInvalidOptionsError(
      `Expected \`path\` to name a folder, or a database opened with \`lmdb\`, got ${quote(path)}`,
    );
  }
  if (typeof clock?.now !== 'function') {
    throw invalid('`clock`', 'an object whose `now()` returns epoch milliseconds', clock);
  }
  return { path, clock };
}
