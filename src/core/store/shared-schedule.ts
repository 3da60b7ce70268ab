import { type Clock, MonotonicClock, sleepInBackground } from '../base/index.ts';
import type { StoreCaller } from './store-caller.ts';
import { MAX_ORIGIN_LENGTH, slotKey } from './store-key.ts';
import type { RobotsStore, StoreReserveOptions } from './store.ts';

interface SharedScheduleOptions {
  readonly store: RobotsStore;
  readonly clock: Clock;
}

/** Ten years. A slot further away comes from a broken store. */
const MAX_WAIT_MS = 10 * 365 * 24 * 60 * 60 * 1000;
/** Interval at which a pause is sent again to a store that is unreachable. */
const RESEND_MS = 1_000;

/** The schedules of origins that a fleet shares. Calls resolve with `undefined` when the store fails, or cannot pause. */
export class SharedSchedule {
  readonly #options: SharedScheduleOptions;
  readonly #caller: StoreCaller;
  readonly #clock: MonotonicClock;
  readonly #closing = new AbortController();
  /** The ends of pauses that are not sent to the store yet. */
  readonly #unsent = new Map<string, number>();
  #isResending = false;

  constructor(options: SharedScheduleOptions, caller: StoreCaller) {
    this.#options = options;
    this.#caller = caller;
    this.#clock = new MonotonicClock(options.clock);
  }

  /**
   * Books a slot `delayMs` after the last one that any member booked. Resolves with the milliseconds until then; more
   * than `maxWaitMs` when nothing was booked.
   */
  reserve(origin: string, delayMs: number, bounds: StoreReserveOptions): Promise<number | undefined> {
    const { minWaitMs = 0, maxWaitMs = Infinity, slackMs = 0 } = bounds;
    const options = {
      minWaitMs: Math.ceil(minWaitMs),
      maxWaitMs: Math.min(Math.floor(maxWaitMs), MAX_WAIT_MS),
      slackMs,
    };
    const { store } = this.#options;
    return this.#move('reserve', origin, (key) =>
      store.reserve?.(key, wholeMs(Math.max(1, delayMs)), options),
    );
  }

  /**
   * Pauses an origin for at least `ms`; 0 only asks. Resolves with the milliseconds until the end of the pause in force.
   * While the store is unreachable the pause is kept, and sent later.
   */
  async pause(origin: string, ms: number): Promise<number | undefined> {
    const { store } = this.#options;
    if (store.pause === undefined) return undefined;
    const until = this.#clock.now() + ms;
    const leftMs = await this.#move('pause', origin, (key) => store.pause?.(key, wholeMs(ms)));
    if (ms > 0) this.#note(origin, until, leftMs !== undefined);
    return leftMs;
  }

  close(): void {
    this.#closing.abort();
    this.#unsent.clear();
  }

  #note(origin: string, until: number, isSent: boolean): void {
    if (isSent) {
      if ((this.#unsent.get(origin) ?? Infinity) <= until) this.#unsent.delete(origin);
    } else if (!this.#closing.signal.aborted && origin.length <= MAX_ORIGIN_LENGTH) {
      this.#unsent.set(origin, Math.max(until, this.#unsent.get(origin) ?? until));
      if (!this.#isResending) void this.#resend();
    }
  }

  /** Sends the kept pauses until the store has them all, or they are over. */
  async #resend(): Promise<void> {
    this.#isResending = true;
    const { signal } = this.#closing;
    while (this.#unsent.size > 0) {
      try {
        await sleepInBackground(this.#options.clock, RESEND_MS, signal);
      } catch {
        break;
      }
      for (const [origin, until] of this.#unsent) {
        const leftMs = until - this.#clock.now();
        if (leftMs <= 0) this.#unsent.delete(origin);
        // The others can wait until the store has taken one.
        else if ((await this.pause(origin, leftMs)) === undefined) break;
      }
    }
    this.#isResending = false;
  }

  async #move(
    operation: 'reserve' | 'pause',
    origin: string,
    send: (key: string) => Promise<number> | undefined,
  ): Promise<number | undefined> {
    if (origin.length > MAX_ORIGIN_LENGTH || this.#closing.signal.aborted) return undefined;
    const called = await this.#caller.call<number | undefined>({
      operation,
      origin,
      send: () => send(slotKey(origin)),
      expectedValue: (value) =>
        typeof value === 'number' && value >= 0 && value <= MAX_WAIT_MS
          ? undefined
          : `milliseconds from now until ${operation === 'reserve' ? 'the slot' : 'the end of the pause'}`,
    });
    return called.ok && called.value !== undefined ? Math.ceil(called.value) : undefined;
  }
}

function wholeMs(ms: number): number {
  return Math.min(Math.ceil(ms), MAX_WAIT_MS);
}
