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
/** Interval at which a pause is repeated: a server that restarts may have lost it, and its loss shows nowhere else. */
const REPEAT_MS = 2_000;

/** The schedules of origins that a fleet shares. Calls resolve with `undefined` when the store fails, or cannot pause. */
export class SharedSchedule {
  readonly #options: SharedScheduleOptions;
  readonly #caller: StoreCaller;
  readonly #clock: MonotonicClock;
  readonly #closing = new AbortController();
  /** The pauses that were learnt here, until they end. */
  readonly #pauses = new Map<string, { readonly until: number; readonly nextAt: number }>();
  #isRepeating = false;

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
   * The pause is kept and repeated until it ends: the store may be unreachable, or forget.
   */
  async pause(origin: string, ms: number): Promise<number | undefined> {
    const { store } = this.#options;
    if (store.pause === undefined) return undefined;
    const until = this.#clock.now() + ms;
    const leftMs = await this.#move('pause', origin, (key) => store.pause?.(key, wholeMs(ms)));
    if (ms > 0) this.#keep(origin, until, leftMs === undefined ? RESEND_MS : REPEAT_MS);
    return leftMs;
  }

  close(): void {
    this.#closing.abort();
    this.#pauses.clear();
  }

  #keep(origin: string, until: number, nextMs: number): void {
    if (this.#closing.signal.aborted || origin.length > MAX_ORIGIN_LENGTH) return;
    const before = this.#pauses.get(origin)?.until ?? until;
    this.#pauses.set(origin, { until: Math.max(until, before), nextAt: this.#clock.now() + nextMs });
    if (!this.#isRepeating) void this.#repeat();
  }

  /** Sends the kept pauses again until they are over. */
  async #repeat(): Promise<void> {
    this.#isRepeating = true;
    const { signal } = this.#closing;
    while (this.#pauses.size > 0) {
      try {
        await sleepInBackground(this.#options.clock, RESEND_MS, signal);
      } catch {
        break;
      }
      for (const [origin, { until, nextAt }] of this.#pauses) {
        const now = this.#clock.now();
        if (until <= now) this.#pauses.delete(origin);
        // The others can wait until the store has taken one.
        else if (nextAt <= now && (await this.pause(origin, until - now)) === undefined) break;
      }
    }
    this.#isRepeating = false;
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
      patient: true,
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
