import type { StoreCaller } from './store-caller.ts';
import { MAX_ORIGIN_LENGTH, slotKey } from './store-key.ts';
import type { RobotsStore } from './store.ts';

/** The schedules of origins that a fleet shares. Calls resolve with `undefined` when the store fails, or cannot pause. */
export interface SharedSchedule {
  /** Books a slot `delayMs` after the last one booked by anybody. Resolves with the milliseconds until then. */
  reserve(origin: string, delayMs: number): Promise<number | undefined>;
  /** Pauses an origin for at least `ms`. Resolves with the milliseconds until the end of the pause in force. */
  pause(origin: string, ms: number): Promise<number | undefined>;
}

/** Ten years. A slot further away comes from a broken store. */
const MAX_RESERVED_MS = 10 * 365 * 24 * 60 * 60 * 1000;

/** The schedules in a store; `undefined` if it has none. */
export function fleetTimetables(
  store: RobotsStore,
  caller: StoreCaller,
  isClosing: () => boolean,
): SharedSchedule | undefined {
  if (store.reserve === undefined) return undefined;
  const move = async (
    operation: 'reserve' | 'pause',
    origin: string,
    ms: number,
  ): Promise<number | undefined> => {
    if (origin.length > MAX_ORIGIN_LENGTH || isClosing()) return undefined;
    const wholeMs = Math.min(Math.ceil(ms), MAX_RESERVED_MS);
    const called = await caller.call<number | undefined>({
      operation,
      origin,
      make: () => store[operation]?.(slotKey(origin), wholeMs),
      expectedValue: (value) =>
        typeof value === 'number' && value >= 0 && value <= MAX_RESERVED_MS
          ? undefined
          : `milliseconds from now until ${operation === 'reserve' ? 'the slot' : 'the end of the pause'}`,
    });
    return called.ok && called.value !== undefined ? Math.ceil(called.value) : undefined;
  };
  return {
    reserve: (origin, delayMs) => move('reserve', origin, Math.max(1, delayMs)),
    pause: async (origin, ms) => (store.pause === undefined ? undefined : move('pause', origin, ms)),
  };
}
