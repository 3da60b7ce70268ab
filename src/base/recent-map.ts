interface Node<Value> {
  readonly key: string;
  value: Value;
  weight: number;
  /** The neighbour that was used later. */
  newer: Node<Value> | undefined;
  /** The neighbour that was used earlier. */
  older: Node<Value> | undefined;
}

export interface RecentMapOptions<Value> {
  readonly maxSize: number;
  /** The most that all values may weigh together. One that weighs more is kept alone. Default: no bound. */
  readonly maxWeight?: number;
  /** Called for each value that makes room for another. It must not change the map. */
  readonly onEvict?: (key: string, value: Value) => void;
}

/**
 * A map that is bounded in number and in weight: the least recently used value makes room.
 *
 * Our own, because the library for it weighs a tenth of what a Worker loads. Every question looks into it: a look-up is
 * one of a `Map`, and changes four pointers at most.
 */
export class RecentMap<Value> {
  readonly #maxSize: number;
  readonly #maxWeight: number;
  readonly #onEvict: RecentMapOptions<Value>['onEvict'];
  readonly #nodes = new Map<string, Node<Value>>();
  #newest: Node<Value> | undefined;
  #oldest: Node<Value> | undefined;
  #weight = 0;

  constructor({ maxSize, maxWeight = Infinity, onEvict }: RecentMapOptions<Value>) {
    this.#maxSize = maxSize;
    this.#maxWeight = maxWeight;
    this.#onEvict = onEvict;
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** What all values weigh together. */
  get weight(): number {
    return this.#weight;
  }

  /** The value of `key`, which counts as used. */
  get(key: string): Value | undefined {
    const node = this.#nodes.get(key);
    if (node === undefined) return undefined;
    if (node !== this.#newest) {
      this.#unlink(node);
      this.#link(node);
    }
    return node.value;
  }

  /** The value of `key`, which does not count as used. */
  peek(key: string): Value | undefined {
    return this.#nodes.get(key)?.value;
  }

  /** Sets a value, or its weight anew. It counts as used, and others make room for it. */
  set(key: string, value: Value, weight = 0): void {
    let node = this.#nodes.get(key);
    if (node === undefined) {
      node = { key, value, weight, newer: undefined, older: undefined };
      this.#nodes.set(key, node);
    } else {
      this.#unlink(node);
      this.#weight -= node.weight;
      node.value = value;
      node.weight = weight;
    }
    this.#weight += weight;
    this.#link(node);
    this.#makeRoom(node);
  }

  delete(key: string): boolean {
    const node = this.#nodes.get(key);
    if (node === undefined) return false;
    this.#unlink(node);
    this.#weight -= node.weight;
    return this.#nodes.delete(key);
  }

  clear(): void {
    this.#nodes.clear();
    this.#newest = this.#oldest = undefined;
    this.#weight = 0;
  }

  /** The least recently used first. */
  *values(): Generator<Value, void> {
    for (let node = this.#oldest; node !== undefined; node = node.newer) yield node.value;
  }

  #makeRoom(kept: Node<Value>): void {
    while (this.#nodes.size > this.#maxSize || this.#weight > this.#maxWeight) {
      const oldest = this.#oldest;
      if (oldest === undefined || oldest === kept) return;
      this.delete(oldest.key);
      this.#onEvict?.(oldest.key, oldest.value);
    }
  }

  #link(node: Node<Value>): void {
    node.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = node;
    else this.#newest.newer = node;
    this.#newest = node;
  }

  #unlink(node: Node<Value>): void {
    const { newer, older } = node;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    node.newer = node.older = undefined;
  }
}
