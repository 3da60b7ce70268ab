import { encodeValue, fenceOf } from '../../core/store/value-encoding.ts';
import { durationMs, type StoreSetOptions } from '../../core/store/store.ts';
import type { Table, Writer } from './table.ts';

/** A pending change of a key. Without a value the key is deleted. */
interface Change {
  readonly value: string | undefined;
  readonly expiresAt: number;
  readonly fence: string | undefined;
}

/** Values that wait for their transaction. This process can read them already; others only after the commit. */
export class PendingChanges {
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
    const ttl = durationMs('ttlMs', ttlMs);
    const change: Change = { value, expiresAt: this.#table.now() + ttl, fence };
    await this.#change(key, change, async () => {
      const content = await encodeValue(value, fence);
      const write = (writer: Writer): void => {
        if (!isLate(writer, key, fence)) writer.put('value', { key, content, expiresAt: change.expiresAt });
        along?.(writer);
      };
      await this.#table.write('soon', write, false);
    });
  }

  async delete(key: string): Promise<void> {
    const change: Change = { value: undefined, expiresAt: Infinity, fence: undefined };
    await this.#change(key, change, () => this.#table.write('soon', (writer) => writer.remove('value', key)));
  }

  async #change(key: string, change: Change, write: () => Promise<void>): Promise<void> {
    this.#changes.set(key, change);
    try {
      await write();
    } finally {
      if (this.#changes.get(key) === change) this.#changes.delete(key);
    }
  }
}

/** Whether the stored value was written under a later lease than `fence`. */
function isLate(entries: Pick<Writer, 'find'>, key: string, fence: string | undefined): boolean {
  if (fence === undefined) return false;
  const before = entries.find('value', key);
  const later = before && fenceOf(before.content);
  return later !== undefined && later > fence;
}
