import { quote, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { durationMs, type RobotsStore } from '../../core/store/store.ts';

/** The part of an instance of Keyv 4, 5 or 6 that is used. */
export interface KeyvInstance {
  get(key: string): Promise<unknown>;
  set(key: string, value: string, ttlMs?: number): Promise<unknown>;
  delete(key: string): Promise<unknown>;
  /** Keyv 5 only: whether calls reject when the backend fails. */
  readonly throwOnErrors?: boolean;
  on?(event: 'error', listener: (error: unknown) => void): unknown;
  off?(event: 'error', listener: (error: unknown) => void): unknown;
  listeners?(event: 'error'): readonly unknown[];
}

/**
 * A store without `lease` and `reserve`: a Keyv backend has no operation that only one of many callers wins. Each
 * process of a fleet fetches a robots.txt that the store does not have yet, and paces its own requests.
 */
export interface KeyvStore extends RobotsStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, options: { readonly ttlMs: number }): Promise<void>;
  delete(key: string): Promise<void>;
  readonly lease?: never;
  readonly reserve?: never;
}

/**
 * Makes a store over a Keyv instance, and so over each of its backends. The caller makes the instance and closes it.
 *
 * Records are texts with a TTL in whole milliseconds. The backend may keep them longer: what is out of date is fetched
 * again. `lease` and `reserve` are absent ({@link KeyvStore}).
 *
 * The store rejects when the backend fails, so that the client can report it. Keyv 5 hides failed reads unless it is
 * made with `throwOnErrors: true`, so that is required. Keyv 6 hides failures when its event `error` has a listener;
 * the store listens too while it calls. With a backend that hides its own failures, a failed read is a cache miss.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when `keyv` is no Keyv instance, or hides failures.
 *
 * @example
 * ```ts
 * import Keyv from 'keyv';
 * import { RobotsClient } from 'canfetch';
 * import { keyvStore } from 'canfetch/keyv';
 *
 * const store = keyvStore(new Keyv({ throwOnErrors: true }));
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0', store });
 * ```
 */
export function keyvStore(keyv: KeyvInstance): KeyvStore {
  checkKeyv(keyv);
  const errors = new KeyvErrors(keyv);
  return {
    async get(key) {
      const value = await errors.of(
        () => keyv.get(key),
        (found) => found === undefined || found === null,
      );
      // A value of another type is not ours.
      return typeof value === 'string' ? value : undefined;
    },
    async set(key, value, { ttlMs }) {
      // Some backends take whole milliseconds only. Rounded up, so that a time is never shorter than requested.
      const ttl = Math.ceil(durationMs('ttlMs', ttlMs));
      const isKept = await errors.of(
        () => keyv.set(key, value, ttl),
        (kept) => kept === false,
      );
      if (isKept === false) throw new Error(`Keyv did not keep the value of ${quote(key)}`);
    },
    async delete(key) {
      // `false` also when there was nothing to delete.
      await errors.of(
        () => keyv.delete(key),
        (deleted) => deleted === false,
      );
    },
  };
}

function checkKeyv(keyv: KeyvInstance): void {
  const given: Partial<KeyvInstance> = Object(keyv);
  for (const method of ['get', 'set', 'delete'] as const) {
    if (typeof given[method] === 'function') continue;
    throw new RobotsInvalidOptionsError(
      `Expected an instance of Keyv, got ${quote(keyv)}, which has no method \`${method}\``,
    );
  }
  if (given.throwOnErrors === false) {
    throw new RobotsInvalidOptionsError(
      'Expected a Keyv that rejects when its backend fails, got one that hides it; ' +
        'make it with `new Keyv({ throwOnErrors: true })`',
    );
  }
}

/**
 * Finds errors that a call of Keyv emits as an event instead of rejecting: Keyv 6 does so if the event
 * has a listener; some backends always do.
 *
 * An event does not name its call. So each call that ends without success, while an error was emitted, rejects with
 * it: at worst a miss is reported as a failure.
 */
class KeyvErrors {
  readonly #keyv: KeyvInstance;
  #calls = 0;
  #isListening = false;
  #emitted = 0;
  #last: unknown;

  constructor(keyv: KeyvInstance) {
    this.#keyv = keyv;
  }

  /** Calls Keyv. Rejects as it does, or with an error that was emitted if the result `mayHaveFailed`. */
  async of<Result>(call: () => Promise<Result>, mayHaveFailed: (result: Result) => boolean): Promise<Result> {
    if (this.#calls++ === 0) this.#listen();
    const before = this.#emitted;
    try {
      const result = await call();
      if (this.#emitted > before && mayHaveFailed(result)) throw this.#last;
      return result;
    } finally {
      if (--this.#calls === 0) this.#endListening();
    }
  }

  /**
   * Listens only where that changes nothing for the caller: an emitted error without a listener makes the calls of
   * Keyv 4 and 6 reject, and does nothing in Keyv 5, which alone has `throwOnErrors`.
   */
  #listen(): void {
    const keyv = this.#keyv;
    const isHeard = (keyv.listeners?.('error').length ?? 0) > 0;
    this.#isListening = isHeard || keyv.throwOnErrors === true;
    if (this.#isListening) keyv.on?.('error', this.#note);
  }

  #endListening(): void {
    if (this.#isListening) this.#keyv.off?.('error', this.#note);
  }

  readonly #note = (error: unknown): void => {
    this.#emitted++;
    this.#last = error;
  };
}
