import type { StoreCaller } from './store-caller.ts';
import { storeKey } from './store-key.ts';
import type { RobotsStore, StoreLease } from './store.ts';

/** A lease that this process holds. */
export interface HeldLease {
  /** The fencing token of writes under this lease, if the store has tokens. */
  readonly token?: string | undefined;
  /** Writes a record and releases the lease in one step, if the store can. Rejects when the store does. */
  readonly setAndRelease?: ((value: string, ttlMs: number) => Promise<void>) | undefined;
  /** Settles within the store's deadline. Never rejects. */
  release(): Promise<void>;
}

/** A lease just acquired, with the value of the record that the store read with it. */
export interface AcquiredLease extends HeldLease {
  readonly value?: string | null | undefined;
}

export type LeaseResult =
  | { readonly kind: 'acquired'; readonly lease: AcquiredLease }
  /** Another process holds the lease. */
  | { readonly kind: 'held-by-other' }
  /** The call failed, or the breaker is open. */
  | { readonly kind: 'unavailable' };

interface LeasesOptions {
  readonly store: RobotsStore;
  /** Lifetime of a lease in milliseconds. */
  readonly leaseMs: number;
  readonly namespace: string;
}

/** The leases that one client acquires in a store. */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #caller: StoreCaller;
  /** One promise per held lease. Resolves at its release. */
  readonly #held = new Set<Promise<void>>();

  constructor(options: LeasesOptions, caller: StoreCaller) {
    this.#options = options;
    this.#caller = caller;
  }

  async acquire(origin: string): Promise<LeaseResult> {
    const { store, leaseMs, namespace } = this.#options;
    const called = await this.#caller.call<StoreLease | undefined>({
      operation: 'lease',
      origin,
      send: () =>
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
    if (!called.ok) return { kind: 'unavailable' };
    if (!called.value) return { kind: 'held-by-other' };
    const { value } = called.value;
    return { kind: 'acquired', lease: { ...this.#hold(origin, called.value), value } };
  }

  /** Resolves when all leases held now are released. */
  released(): Promise<unknown> {
    return Promise.all(this.#held);
  }

  #hold(origin: string, lease: StoreLease): HeldLease {
    let isReleased = false;
    let settle = (): void => {};
    const released = new Promise<void>((resolve) => {
      settle = resolve;
    });
    this.#held.add(released);
    return {
      token: typeof lease.token === 'string' ? lease.token : undefined,
      setAndRelease:
        typeof lease.setAndRelease === 'function'
          ? async (value, ttlMs) => {
              await lease.setAndRelease?.(value, { ttlMs });
              isReleased = true;
            }
          : undefined,
      release: async () => {
        const send = (): Promise<void> => lease.release();
        if (!isReleased) {
          // Others wait for the lease, so try even if the breaker is open.
          await this.#caller.call({ operation: 'release', origin, send, background: true, regardless: true });
        }
        this.#held.delete(released);
        settle();
      },
    };
  }
}
