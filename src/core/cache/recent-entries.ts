import type { CacheEntry } from './entry.ts';

/**
 * The entries of origins in order of use, bounded in number and in size. Each entry links to its neighbours, so that a
 * look-up allocates nothing.
 */
export class RecentEntries {
  readonly #maxOrigins: number;
  readonly #maxBytes: number;
  readonly #onRemoved: (entry: CacheEntry, isEvicted: boolean) => void;
  readonly #byOrigin = new Map<string, CacheEntry>();
  #newest: CacheEntry | undefined;
  #oldest: CacheEntry | undefined;
  #bytes = 0;

  constructor(
    maxOrigins: number,
    maxBytes: number,
    onRemoved: (entry: CacheEntry, isEvicted: boolean) => void,
  ) {
    this.#maxOrigins = maxOrigins;
    this.#maxBytes = maxBytes;
    this.#onRemoved = onRemoved;
  }

  get size(): number {
    return this.#byOrigin.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The entry of an origin, which is now the most recently used. */
  get(origin: string): CacheEntry | undefined {
    const entry = this.#byOrigin.get(origin);
    if (entry !== undefined && entry !== this.#newest) {
      this.#unlink(entry);
      this.#link(entry);
    }
    return entry;
  }

  /** The entry of an origin. Does not change the order. */
  peek(origin: string): CacheEntry | undefined {
    return this.#byOrigin.get(origin);
  }

  /** Adds an entry in place of the one of its origin, and evicts the least recently used until all fit. */
  set(entry: CacheEntry): void {
    const { origin } = entry.record;
    const before = this.#byOrigin.get(origin);
    if (before !== undefined) this.#remove(before, false);
    this.#byOrigin.set(origin, entry);
    this.#link(entry);
    this.#addBytes(entry);
  }

  /** Counts the size of an entry again, and evicts others if need be. */
  resize(entry: CacheEntry): void {
    const { origin } = entry.record;
    if (this.peek(origin) !== entry) return;
    this.get(origin);
    this.#bytes -= entry.countedBytes;
    this.#addBytes(entry);
  }

  delete(origin: string): boolean {
    const entry = this.#byOrigin.get(origin);
    if (entry !== undefined) this.#remove(entry, false);
    return entry !== undefined;
  }

  clear(): void {
    for (const entry of this.#byOrigin.values()) this.#remove(entry, false);
  }

  /** All entries, least recently used first. */
  *oldestFirst(): Generator<CacheEntry> {
    for (let entry = this.#oldest; entry !== undefined; entry = entry.newer) yield entry;
  }

  /** The newest entry stays, alone if need be: a file may be larger than the whole bound. */
  #addBytes(entry: CacheEntry): void {
    this.#bytes += entry.updateSize(this.#maxBytes);
    for (let oldest = this.#oldest; oldest !== undefined && oldest !== entry; oldest = this.#oldest) {
      if (this.#bytes <= this.#maxBytes && this.size <= this.#maxOrigins) return;
      this.#remove(oldest, true);
    }
  }

  #remove(entry: CacheEntry, isEvicted: boolean): void {
    this.#byOrigin.delete(entry.record.origin);
    this.#unlink(entry);
    this.#bytes -= entry.countedBytes;
    this.#onRemoved(entry, isEvicted);
  }

  #link(entry: CacheEntry): void {
    const older = this.#newest;
    entry.older = older;
    if (older === undefined) this.#oldest = entry;
    else older.newer = entry;
    this.#newest = entry;
  }

  #unlink(entry: CacheEntry): void {
    const { older, newer } = entry;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    entry.older = entry.newer = undefined;
  }
}
