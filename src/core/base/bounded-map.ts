/** The part of an `lru-cache` that is used. */
export interface BoundedMap<Value> {
  readonly size: number;
  /** The sum of all sizes. */
  readonly calculatedSize: number;
  /** Updates recency. */
  get(key: string): Value | undefined;
  peek(key: string): Value | undefined;
  set(key: string, value: Value): unknown;
  delete(key: string): boolean;
  /** Removes the least recently used. */
  pop(): unknown;
  clear(): void;
  /** The least recently used first. */
  rvalues(): Iterable<Value | undefined>;
}

export interface BoundedMapOptions<Value> {
  readonly maxSize: number;
  /** Called by `set`. The size is at most `maxSize`. */
  readonly sizeCalculation: (value: Value) => number;
  /** Called for each value that is removed. */
  readonly dispose?: (value: Value, key: string, reason: string) => void;
}

/** An LRU for Workers and pages, where `lru-cache` would be a twelfth of the bundle. */
export class SmallBoundedMap<Value> implements BoundedMap<Value> {
  readonly #options: BoundedMapOptions<Value>;
  /** The least recently used first. */
  readonly #entries = new Map<string, { readonly value: Value; readonly size: number }>();
  calculatedSize = 0;

  constructor(options: BoundedMapOptions<Value>) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  peek(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  set(key: string, value: Value): void {
    const { maxSize, sizeCalculation } = this.#options;
    const size = sizeCalculation(value);
    this.#remove(key, 'set');
    while (this.size > 0 && this.calculatedSize + size > maxSize) this.pop();
    this.#entries.set(key, { value, size });
    this.calculatedSize += size;
  }

  delete(key: string): boolean {
    return this.#remove(key, 'delete');
  }

  pop(): void {
    const [oldest = ''] = this.#entries.keys();
    this.#remove(oldest, 'evict');
  }

  clear(): void {
    for (const key of this.#entries.keys()) this.#remove(key, 'delete');
  }

  rvalues(): Iterable<Value> {
    return Array.from(this.#entries.values(), ({ value }) => value);
  }

  #remove(key: string, reason: 'evict' | 'set' | 'delete'): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#entries.delete(key);
    this.calculatedSize -= entry.size;
    this.#options.dispose?.(entry.value, key, reason);
    return true;
  }
}
