import type { StoreCaller } from './store-caller.ts';
import { slotKey } from './record/record-codec.ts';
import type { RobotsStore, StoreReserveOptions, StoreSlot } from './store.ts';

/** Ten years. A slot further away comes from a broken store. */
const MAX_WAIT_MS = 10 * 365 * 24 * 60 * 60 * 1000;

/**
 * The schedules that a fleet shares. Calls resolve with `undefined` when the store fails, or cannot pause: each process
 * then keeps its own schedule.
 */
export class SharedSchedule {
  readonly #store: RobotsStore;
  readonly #caller: StoreCaller;
  #isClosed = false;

  constructor(store: RobotsStore, caller: StoreCaller) {
    this.#store = store;
    this.#caller = caller;
  }

  /**
   * Books a slot `delayMs` after the last one that any member booked: `waitMs` is more than `maxWaitMs` when nothing was
   * booked. `pauseMs` is left of the pause that any member has reported.
   */
  async reserve(
    key: string,
    delayMs: number,
    { minWaitMs = 0, maxWaitMs = MAX_WAIT_MS }: Omit<StoreReserveOptions, 'deadlineMs'>,
  ): Promise<StoreSlot | undefined> {
    const options = {
      minWaitMs: wholeMs(minWaitMs),
      maxWaitMs: Math.min(Math.floor(maxWaitMs), MAX_WAIT_MS),
      deadlineMs: this.#caller.patientMs,
    };
    const booked = await this.#call('reserve', key, (slot) =>
      this.#store.reserve?.(slot, wholeMs(Math.max(1, delayMs)), options),
    );
    if (booked === undefined) return undefined;
    const { waitMs, pauseMs } = slotOf(booked);
    return { waitMs: Math.ceil(waitMs), pauseMs: Math.ceil(pauseMs) };
  }

  /** Pauses for at least `ms`; 0 only asks. Resolves with the milliseconds until the end of the pause in force. */
  async pause(key: string, ms: number): Promise<number | undefined> {
    if (this.#store.pause === undefined) return undefined;
    const leftMs = await this.#call('pause', key, (slot) => this.#store.pause?.(slot, wholeMs(ms)));
    return leftMs === undefined ? undefined : Math.ceil(leftMs);
  }

  close(): void {
    this.#isClosed = true;
  }

  async #call<Times extends number | StoreSlot>(
    operation: 'reserve' | 'pause',
    key: string,
    send: (slot: string) => Promise<Times> | undefined,
  ): Promise<Times | undefined> {
    if (this.#isClosed) return undefined;
    const called = await this.#caller.call<Times | undefined>({
      operation,
      origin: key,
      patient: true,
      send: () => send(slotKey(key)),
      expectedValue: (value) =>
        Object.values(slotOf(value)).every((ms) => ms >= 0 && ms <= MAX_WAIT_MS)
          ? undefined
          : `milliseconds from now until ${operation === 'reserve' ? 'the slot' : 'the end of the pause'}`,
    });
    return called.ok ? called.value : undefined;
  }
}

/** What a store returned, which may be anything. */
function slotOf(value: unknown): StoreSlot {
  if (typeof value === 'number') return { waitMs: value, pauseMs: 0 };
  const { waitMs = NaN, pauseMs = 0 }: Partial<StoreSlot> = Object(value);
  return { waitMs: Number(waitMs), pauseMs: Number(pauseMs) };
}

function wholeMs(ms: number): number {
  return Math.min(Math.ceil(ms), MAX_WAIT_MS);
}
