/** The maximum number of origins kept, to bound memory: at most some hundred megabytes. */
const MAX_REMEMBERED = 1_000_000;

/** Longest origin of a real host (RFC 1035 §2.3.4: "names 255 octets or less"), with scheme and port. */
const MAX_LENGTH = 280;

/**
 * Counts the distinct origins of a list. It keeps the last million. An older origin counts as new when it comes
 * again; that costs one more question, served from the cache.
 */
export class DistinctOrigins {
  readonly #maxRemembered: number;
  readonly #seen = new Set<string>();
  #added = 0;

  constructor(maxRemembered: number = MAX_REMEMBERED) {
    this.#maxRemembered = maxRemembered;
  }

  /** Number of new origins so far. */
  get count(): number {
    return this.#added;
  }

  /** Adds an origin. Returns whether it is new. */
  add(origin: string): boolean {
    if (this.#seen.has(origin)) return false;
    this.#added++;
    // No real host has so long a name. It is not kept, and counts as new each time.
    if (origin.length > MAX_LENGTH) return true;
    this.#seen.add(origin);
    // Drop the oldest.
    if (this.#seen.size > this.#maxRemembered) this.#seen.delete(this.#seen.values().next().value ?? '');
    return true;
  }
}
