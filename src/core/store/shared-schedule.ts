import { omitUndefined } from '../base/index.ts';
import type { StoreCaller } from './store-caller.ts';
import { slotKey } from './record-codec.ts';
import type { PauseCause, RobotsStore, StorePause, StoreReserveOptions, StoreSlot } from './store.ts';

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
    return this.#call('reserve', key, (slot) =>
      this.#store.reserve?.(slot, wholeMs(Math.max(1, delayMs)), options),
    );
  }

  /** Pauses for at least `ms`; 0 only asks. Resolves with the pause in force. */
  async pause(key: string, ms: number, cause?: PauseCause): Promise<StorePause | undefined> {
    if (this.#store.pause === undefined) return undefined;
    return this.#call('pause', key, async (slot) => {
      const paused = await this.#store.pause?.(slot, wholeMs(ms), cause);
      return { waitMs: 0, ...(typeof paused === 'object' ? paused : { pauseMs: Number(paused) }) };
    });
  }

  close(): void {
    this.#isClosed = true;
  }

  async #call(
    operation: 'reserve' | 'pause',
    key: string,
    send: (slot: string) => Promise<StoreSlot> | undefined,
  ): Promise<StoreSlot | undefined> {
    if (this.#isClosed) return undefined;
    const called = await this.#caller.call<StoreSlot | undefined>({
      operation,
      origin: key,
      patient: true,
      send: () => send(slotKey(key)),
      expectedValue: (value) =>
        readSlot(value) === undefined
          ? operation === 'reserve'
            ? '`{ waitMs, pauseMs }`, in milliseconds from now'
            : 'milliseconds from now until the end of the pause'
          : undefined,
    });
    return called.ok ? readSlot(called.value) : undefined;
  }
}

/** What a store returned, which may be anything. */
function readSlot(value: unknown): StoreSlot | undefined {
  const { waitMs, pauseMs, cause }: Partial<Record<keyof StoreSlot, unknown>> = Object(value);
  if (!isWait(waitMs) || !isWait(pauseMs)) return undefined;
  const known = cause === 'retry-after' || cause === 'back-off' ? cause : undefined;
  return { waitMs: Math.ceil(waitMs), pauseMs: Math.ceil(pauseMs), ...omitUndefined({ cause: known }) };
}

function isWait(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_WAIT_MS;
}

function wholeMs(ms: number): number {
  return Math.min(Math.ceil(ms), MAX_WAIT_MS);
}
