/** A lease on an origin: whoever holds it is the one who asks for its robots.txt. */
export interface StoreLease {
  /** Gives it back, if it has not run out and gone to another holder meanwhile. */
  release(): Promise<void>;
}

/**
 * Where records outlive the process: what a client's `store` option takes. Keys and values are strings that the
 * client makes; a store keeps them as they are and forgets them when their time is up.
 *
 * A store may fail in any way and at any time. The client gives each call a deadline of its own, reads what comes
 * back with suspicion, and goes on without.
 */
export interface RobotsStore {
  /** The value, or `undefined` when there is none or its time is up. */
  get(key: string): Promise<string | undefined> | string | undefined;
  /** Keeps `value` for `ttlMs` milliseconds, at least that long and not much longer. */
  set(key: string, value: string, options: { readonly ttlMs: number }): Promise<void> | void;
  delete(key: string): Promise<void> | void;
  /**
   * One fetch per origin in a fleet: a lease for `ttlMs`, or `undefined` while another holds it. Without it every
   * process asks for itself.
   */
  lease?(key: string, ttlMs: number): Promise<StoreLease | undefined>;
  /**
   * Books the next slot of `key`, `delayMs` behind the last one that anybody booked, by the store's own clock.
   *
   * @returns milliseconds from now until the slot.
   */
  reserve?(key: string, delayMs: number): Promise<number>;
}
