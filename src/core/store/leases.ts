import type { StoreCaller } from './store-caller.ts';
import { storeKey } from './store-key.ts';
import type { RobotsStore, StoreLease } from './store.ts';

/** A lease that this process has. */
export interface HeldLease {
  /** Fences what is written under it, if the store's leases have tokens. */
  readonly token?: string | undefined;
  /** Writes a record under it and gives it back in one step, where the store can. Rejects as the store does. */
  readonly setAndRelease?: ((value: string, ttlMs: number) => Promise<void>) | undefined;
  /** Ends in time, and never rejects. */
  release(): Promise<void>;
}

/** A lease just taken, and what the store read of the record as it gave it. */
export interface TakenLease extends HeldLease {
  readonly value?: string | null | undefined;
}

interface LeasesOptions {
  readonly store: RobotsStore;
  /** Milliseconds that a lease lasts. */
  readonly leaseMs: number;
  readonly namespace: string;
}

/** The leases that one client takes in a store. */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #caller: StoreCaller;
  /** Settle when the leases that are held are given back. */
  readonly #held = new Set<Promise<void>>();

  constructor(options: LeasesOptions, caller: StoreCaller) {
    this.#options = options;
    this.#caller = caller;
  }

  /** `taken`: another process holds the lease. `none`: the store gives none now. */
  async take(origin: string): Promise<TakenLease | 'taken' | 'none'> {
    const { store, leaseMs, namespace } = this.#options;
    const called = await this.#caller.call<StoreLease | undefined>({
      operation: 'lease',
      origin,
      make: () =>
        store.lease?.(storeKey('lease', namespace, origin), leaseMs, {
          valueKey: storeKey('record', namespace, origin),
        }),
      expectedValue: (lease) =>
        lease === undefined || lease === null || typeof lease.release === 'function'
          ? undefined
          : 'a lease, or undefined while another client holds it',
      // Release a lease that arrives late: it would block all processes until it expires.
      late: (lease) => void (lease && this.#hold(origin, lease).release()),
    });
    if (!called.ok) return 'none';
    if (!called.value) return 'taken';
    return { ...this.#hold(origin, called.value), value: called.value.value };
  }

  /** Resolves when all leases that are held now are given back. */
  released(): Promise<unknown> {
    return Promise.all(this.#held);
  }

  #hold(origin: string, lease: StoreLease): HeldLease {
    let isGivenBack = false;
    let settle = (): void => {};
    const given = new Promise<void>((resolve) => {
      settle = resolve;
    });
    this.#held.add(given);
    return {
      token: typeof lease.token === 'string' ? lease.token : undefined,
      setAndRelease:
        typeof lease.setAndRelease === 'function'
          ? async (value, ttlMs) => {
              await lease.setAndRelease?.(value, { ttlMs });
              isGivenBack = true;
            }
          : undefined,
      release: async () => {
        const make = (): Promise<void> => lease.release();
        if (!isGivenBack) {
          // Others wait for the lease, so try even if the breaker is open.
          await this.#caller.call({ operation: 'release', origin, make, background: true, regardless: true });
        }
        this.#held.delete(given);
        settle();
      },
    };
  }
}
