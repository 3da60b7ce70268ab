import type { Clock } from '../base/index.ts';
import type { StoreCaller } from './store-caller.ts';
import type { RobotsStore } from './store.ts';

interface StoreClockOptions {
  readonly store: RobotsStore;
  readonly clock: Clock;
}

/** The clocks are compared again after this time. */
const COMPARISON_TTL_MS = 10 * 60 * 1000;
/** The store is asked again after this time if it returned no time. */
const RETRY_MS = 10_000;
/** Smaller differences come from the network, and from clocks set by NTP. */
const MIN_DIFFERENCE_MS = 500;

/** How far the clock of a store is ahead of ours. */
export class StoreClock {
  readonly #options: StoreClockOptions;
  readonly #caller: StoreCaller;
  #knownMs = 0;
  /** The time of the next comparison, by our clock, and the latest time that our clock has shown. */
  #nextAt = -Infinity;
  #latest = -Infinity;
  /** The last reading of the store's time failed, and no other call has succeeded since. */
  #wasUnreachable = false;
  #comparing: Promise<void> | undefined;

  constructor(options: StoreClockOptions, caller: StoreCaller) {
    this.#options = options;
    this.#caller = caller;
  }

  /**
   * Milliseconds to add to our time to get the store's; 0 for a store without a clock, or while it does not respond.
   *
   * @param origin For events.
   * @param isReachable The store has just served a call. If its clock could not be read before, it is read again.
   * @returns a promise only while the clocks are compared.
   */
  aheadMs(origin: string, isReachable: boolean): number | Promise<number> {
    const { store, clock } = this.#options;
    if (store.now === undefined) return 0;
    const now = clock.now();
    const wasSetBack = now < this.#latest;
    this.#latest = now;
    if (wasSetBack || now >= this.#nextAt || (isReachable && this.#wasUnreachable)) {
      this.#comparing ??= this.#compare(origin, isReachable).finally(() => (this.#comparing = undefined));
    }
    return this.#comparing?.then(() => this.#knownMs) ?? this.#knownMs;
  }

  async #compare(origin: string, isReachable: boolean): Promise<void> {
    const { store, clock } = this.#options;
    const before = clock.now();
    const called = await this.#caller.call<number | undefined>({
      operation: 'now',
      origin,
      send: () => store.now?.(),
      expectedValue: (value) => (Number.isFinite(value) ? undefined : 'epoch milliseconds'),
      // A write may be the first call that reaches the store again. Reads are still suspended then.
      regardless: true,
    });
    this.#wasUnreachable = !called.ok && !isReachable;
    this.#nextAt = before + (called.ok ? COMPARISON_TTL_MS : RETRY_MS);
    if (!called.ok || called.value === undefined) return;
    const aheadMs = Math.round(called.value - (before + clock.now()) / 2);
    if (Math.abs(aheadMs - this.#knownMs) >= MIN_DIFFERENCE_MS) this.#knownMs = aheadMs;
  }
}
