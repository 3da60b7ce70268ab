import {
  assertKnownOptions,
  type Clock,
  omitUndefined,
  invalid,
  quote,
  RobotsClosedError,
  RobotsInvalidOptionsError,
  systemClock,
} from '../../core/base/index.ts';
import { decodeValue, encodeValue, fenceOf } from '../../core/store/value-encoding.ts';
import {
  type FencedLease,
  durationMs,
  type RobotsStore,
  type StoreEntry,
  type StoreLeaseOptions,
  type StoreReserveOptions,
  type StoreSetOptions,
  type StoreSlot,
  storeChannels,
} from '../../core/store/store.ts';
import type { OnDamage, QuarantinedDatabase } from './quarantine.ts';
import { type EmbeddedDatabase, Table, type Writer } from './table.ts';
import { bookSlot, pauseSlots } from './schedule.ts';

/** A store in a database within this process. */
export interface EmbeddedStore extends RobotsStore, AsyncDisposable {
  /**
   * Set when the database at `path` was damaged: it was renamed and kept, and this store started with a new one. Also
   * published as an event `quarantined` on the channel `canfetch:store` of `node:diagnostics_channel`.
   */
  readonly quarantine?: QuarantinedDatabase;
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, options: StoreSetOptions): Promise<void>;
  delete(key: string): Promise<void>;
  lease(key: string, ttlMs: number, options?: StoreLeaseOptions): Promise<FencedLease | undefined>;
  reserve(key: string, delayMs: number, options?: StoreReserveOptions): Promise<StoreSlot>;
  pause(key: string, pauseMs: number): Promise<number>;
  /**
   * All values that have not expired. Values written or deleted during the iteration may or may not be included.
   *
   * @param isWanted Values of other keys are not unpacked, and left out.
   */
  entries(isWanted?: (key: string) => boolean): AsyncIterable<StoreEntry>;
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

export interface EmbeddedStoreSettings {
  /** The name of the store in errors. */
  readonly name: string;
  readonly clock: Clock;
  readonly quarantine?: QuarantinedDatabase | undefined;
  readonly close: () => Promise<void>;
}

/** Options of a store that opens its database itself. */
interface PathOptions {
  readonly path: string;
  readonly clock?: Clock;
  readonly onDamage?: OnDamage;
}

/**
 * Checks the options of a store that opens its database itself.
 *
 * @param expected What `path` names.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function readPathOptions(options: PathOptions, expected: string): Required<PathOptions> {
  const given: Partial<PathOptions> = Object(options);
  assertKnownOptions(given, ['path', 'clock', 'onDamage']);
  const { path, clock = systemClock, onDamage = 'replace' } = given;
  if (typeof path !== 'string' || path === '') {
    throw new RobotsInvalidOptionsError(`Expected \`path\` to name ${expected}, got ${quote(path)}`);
  }
  if (typeof clock?.now !== 'function') {
    throw invalid('`clock`', 'an object whose `now()` returns epoch milliseconds', clock);
  }
  if (onDamage !== 'replace' && onDamage !== 'throw') {
    throw invalid('`onDamage`', '"replace" or "throw"', onDamage);
  }
  return { path, clock, onDamage };
}

/** The calls of a store. A closed database must not be used, so pending calls end before it is closed. */
class Calls {
  readonly #store: string;
  readonly #closeDatabase: () => Promise<void>;
  #pending = 0;
  #whenIdle = (): void => undefined;
  #closed: Promise<void> | undefined;

  constructor(store: string, closeDatabase: () => Promise<void>) {
    this.#store = store;
    this.#closeDatabase = closeDatabase;
  }

  /** Rejects with `RobotsClosedError` after {@link close}. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#closed !== undefined) return Promise.reject(new RobotsClosedError(this.#store));
    const done = work();
    this.#pending++;
    const ended = (): void => {
      this.#pending--;
      if (this.#pending === 0) this.#whenIdle();
    };
    done.then(ended, ended);
    return done;
  }

  close(): Promise<void> {
    this.#closed ??= new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
      if (this.#pending === 0) resolve();
    }).then(this.#closeDatabase);
    return this.#closed;
  }
}

/** Makes a store over an open database. */
export function embeddedStore(
  database: EmbeddedDatabase,
  { name, clock, quarantine, close: closeDatabase }: EmbeddedStoreSettings,
): EmbeddedStore {
  if (quarantine !== undefined) storeChannels.store.publish({ type: 'quarantined', ...quarantine });
  const table = new Table(database, clock);
  const pendingChanges = new PendingChanges(table);
  const calls = new Calls(name, () => table.ended().then(closeDatabase));
  const open = <Result>(work: () => Promise<Result>): Promise<Result> => calls.run(work);
  const close = (): Promise<void> => {
    table.writeNow();
    return calls.close();
  };
  return {
    get: (key) =>
      open(async () => {
        const found = await table.read(() => pendingChanges.find(key) ?? table.find('value', key));
        if (found === undefined) return undefined;
        return 'content' in found ? decodeValue(found.content) : found.value;
      }),
    set: (key, value, options) => open(() => pendingChanges.set(key, value, options)),
    delete: (key) => open(() => pendingChanges.delete(key)),
    lease: (key, ttlMs, { valueKey } = {}) =>
      open(async () => {
        if (valueKey !== undefined) await pendingChanges.queued(valueKey);
        const taken = await takeLease(table, key, durationMs('ttlMs', ttlMs), valueKey);
        if (taken === undefined) return undefined;
        const { token, content } = taken;
        const back = (writer: Writer): void => giveBack(writer, key, token);
        const lease = { token, release: () => open(() => table.write('soon', back)) };
        if (valueKey === undefined) return lease;
        return {
          ...lease,
          value: (content && (await decodeValue(content))) ?? null,
          setAndRelease: (value, { ttlMs: valueTtlMs }) =>
            open(() => pendingChanges.set(valueKey, value, { ttlMs: valueTtlMs, fence: token }, back)),
        };
      }),
    reserve: (key, delayMs, options) => open(() => bookSlot(table, key, delayMs, options)),
    pause: (key, pauseMs) => open(() => pauseSlots(table, key, pauseMs)),
    async *entries(isWanted = () => true) {
      let after = '';
      do {
        const { entries, next } = await open(async () => table.read(() => table.page('value', after)));
        for (const { key, content, expiresAt } of entries) {
          if (!isWanted(key)) continue;
          const value = await decodeValue(content);
          if (value !== undefined) yield { key, value, expiresAt };
        }
        after = next;
      } while (after !== '');
    },
    sweep: () => open(() => table.sweep()),
    clear: () => open(() => table.clear('value')),
    close,
    [Symbol.asyncDispose]: close,
    ...omitUndefined({ quarantine }),
  };
}

/**
 * Acquires the lease of `key`, and reads the value under `valueKey` in the same transaction. `undefined`: another holds it.
 *
 * Writers wait for each other, so no other process can acquire it once the transaction has begun, and the caller need not
 * wait for the disk. If the commit fails, the lease and the count of tokens are rolled back: another process may then
 * acquire the lease with the same token.
 */
function takeLease(
  table: Table,
  key: string,
  ttlMs: number,
  valueKey: string | undefined,
): Promise<{ readonly token: string; readonly content: Buffer | undefined } | undefined> {
  return table.write('ahead', (writer) => {
    if (isHeld(writer, key, table.now())) return undefined;
    const token = writer.nextToken();
    writer.put('lease', { key, content: Buffer.from(`${token} ${ttlMs}`), expiresAt: table.now() + ttlMs });
    // The database may reuse this memory after the transaction.
    const content = valueKey === undefined ? undefined : copyOf(writer.find('value', valueKey)?.content);
    return { token, content };
  });
}

/** Whether the lease is held. If the clock went back, the lease restarts with its full duration. */
function isHeld(writer: Writer, key: string, now: number): boolean {
  const lease = writer.find('lease', key);
  if (lease === undefined) return false;
  const [, ttlMs] = readLease(lease.content);
  if (lease.expiresAt - now > ttlMs) {
    writer.put('lease', { key, content: Buffer.from(lease.content), expiresAt: now + ttlMs });
  }
  return true;
}

function giveBack(writer: Writer, key: string, token: string): void {
  const lease = writer.find('lease', key);
  if (lease !== undefined && readLease(lease.content)[0] === token) writer.remove('lease', key);
}

/** The token of a lease, and its duration in ms. Earlier versions wrote the token alone. */
function readLease(content: Buffer): readonly [token: string, ttlMs: number] {
  const [token = '', ttlMs = Infinity] = content.toString().split(' ');
  return [token, Number(ttlMs)];
}

const copyOf = (bytes: Buffer | undefined): Buffer | undefined => bytes && Buffer.from(bytes);

/** A pending change of a key. Without a value the key is deleted. */
interface Change {
  readonly value: string | undefined;
  readonly expiresAt: number;
  readonly fence: string | undefined;
  /** Resolves when this value and earlier ones of its key are compressed; `undefined` if none is in another thread. */
  compressed: Promise<void> | undefined;
}

/** Values that wait for their transaction. This process can read them already; others only after the commit. */
class PendingChanges {
  readonly #table: Table;
  readonly #changes = new Map<string, Change>();

  constructor(table: Table) {
    this.#table = table;
  }

  /** The pending change of `key`; `undefined` when the stored value is current. */
  find(key: string): Change | undefined {
    const change = this.#changes.get(key);
    if (change === undefined || change.expiresAt <= this.#table.now()) return undefined;
    return isLate(this.#table, key, change.fence) ? undefined : change;
  }

  /** @param along Runs in the same transaction, also when the value is not written because its lease is too old. */
  async set(
    key: string,
    value: string,
    { ttlMs, fence }: StoreSetOptions,
    along?: (writer: Writer) => void,
  ): Promise<void> {
    const expiresAt = this.#table.now() + durationMs('ttlMs', ttlMs);
    const change: Change = { value, expiresAt, fence, compressed: undefined };
    await this.#change(key, change, encodeValue(value, fence), (content) => {
      const write = (writer: Writer): void => {
        if (!isLate(writer, key, fence)) writer.put('value', { key, content, expiresAt });
        along?.(writer);
      };
      return this.#table.write('soon', write, false);
    });
  }

  async delete(key: string): Promise<void> {
    const change: Change = { value: undefined, expiresAt: Infinity, fence: undefined, compressed: undefined };
    const write = (): Promise<void> => this.#table.write('soon', (writer) => writer.remove('value', key));
    await this.#change(key, change, undefined, write);
  }

  /** Resolves once the changes of a key that were made before are in the queue of writes. */
  async queued(key: string): Promise<void> {
    await this.#changes.get(key)?.compressed;
    // The step that each change takes.
    await undefined;
  }

  async #change<Content>(
    key: string,
    change: Change,
    content: Content | Promise<Content>,
    write: (content: Content) => Promise<void>,
  ): Promise<void> {
    const before = this.#changes.get(key)?.compressed;
    change.compressed = content instanceof Promise ? ended(before, content) : before;
    this.#changes.set(key, change);
    try {
      if (change.compressed !== undefined) await change.compressed;
      // Every change takes this step, also where its content is ready: so those of one key stay in order.
      await write(await content);
    } finally {
      if (this.#changes.get(key) === change) this.#changes.delete(key);
    }
  }
}

/** Resolves when all have ended, well or not. Keeps none of their results. */
async function ended(...promises: unknown[]): Promise<void> {
  await Promise.allSettled(promises);
}

/** Whether the stored value was written under a later lease than `fence`. */
function isLate(entries: Pick<Writer, 'find'>, key: string, fence: string | undefined): boolean {
  if (fence === undefined) return false;
  const before = entries.find('value', key);
  const later = before && fenceOf(before.content);
  return later !== undefined && later > fence;
}
