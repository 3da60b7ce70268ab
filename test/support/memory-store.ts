import type { Clock } from '../../src/clock.ts';
import type { RobotsStore, StoreLease } from '../../src/cache/store.ts';

interface Kept {
  readonly value: string;
  readonly expiresAt: number;
}

/** The contract of stores in its plainest form, in virtual time. */
export function memoryStore(clock: Clock): Required<RobotsStore> {
  const values = new Map<string, Kept>();
  const leases = new Map<string, { readonly expiresAt: number }>();
  const slots = new Map<string, number>();
  return {
    get(key) {
      const kept = values.get(key);
      return kept !== undefined && kept.expiresAt > clock.now() ? kept.value : undefined;
    },
    set(key, value, { ttlMs }) {
      values.set(key, { value, expiresAt: clock.now() + ttlMs });
    },
    delete(key) {
      values.delete(key);
    },
    async lease(key, ttlMs): Promise<StoreLease | undefined> {
      if ((leases.get(key)?.expiresAt ?? 0) > clock.now()) return undefined;
      const held = { expiresAt: clock.now() + ttlMs };
      leases.set(key, held);
      return {
        async release() {
          if (leases.get(key) === held) leases.delete(key);
        },
      };
    },
    async reserve(key, delayMs) {
      const now = clock.now();
      const slot = Math.max(now, (slots.get(key) ?? -Infinity) + delayMs);
      slots.set(key, slot);
      return slot - now;
    },
  };
}
