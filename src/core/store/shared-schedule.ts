import { type Clock, MonotonicClock, sleepInBackground } from '../base/index.ts';
import type { StoreCaller } from './store-caller.ts';
import { MAX_ORIGIN_LENGTH, slotKey } from './store-key.ts';
import type { RobotsStore, StoreReserveOptions, StoreSlot } from './store.ts';

interface SharedScheduleOptions {
  readonly store: RobotsStore;
  readonly clock: Clock;
}

/** Ten years. A slot further away comes from a broken store. */
const MAX_WAIT_MS = 10 * 365 * 24 * 60 * 60 * 1000;
/** Interval at which pauses are sent to a store that was unreachable, and a few others are looked for. */
const ROUND_MS = 1_000;
/** The pauses looked for in one round: a server that restarts may have lost them, and their loss shows nowhere else. */
const CHECKS_OF_ROUND = 2;
/** A pause is lost where the store's ends earlier than ours by this: clocks and calls differ by less. */
const LOST_MS = 1_000;

/** A pause that was learnt here. */
interface KeptPause {
  readonly until: number;
  isSent: boolean;
}

/** The schedules of origins that a fleet shares. Calls resolve with `undefined` when the store fails, or cannot pause. */
export class SharedSchedule {
  readonly #options: SharedScheduleOptions;
  readonly #caller: StoreCaller;
  readonly #clock: MonotonicClock;
  readonly #closing = new AbortController();
  /** Until they end, by origin. Those looked for last come last. */
  readonly #pauses = new Map<string, KeptPause>();
  #isKeeping = false;

  constructor(options: SharedScheduleOptions, caller: StoreCaller) {
    this.#options = options;
    this.#caller = caller;
    this.#clock = new MonotonicClock(options.clock);
  }

  /**
   * Books a slot `delayMs` after the last one that any member booked: `waitMs` is more than `maxWaitMs` when nothing was
   * booked. `pauseMs` is left of the pause that any member has reported.
   */
  async reserve(
    origin: string,
    delayMs: number,
    bounds: StoreReserveOptions,
  ): Promise<StoreSlot | undefined> {
    const { minWaitMs = 0, maxWaitMs = Infinity, slackMs = 0 } = bounds;
    const options = {
      minWaitMs: Math.ceil(minWaitMs),
      maxWaitMs: Math.min(Math.floor(maxWaitMs), MAX_WAIT_MS),
      slackMs,
    };
    const { store } = this.#options;
    const booked = await this.#move('reserve', origin, (key) =>
      store.reserve?.(key, wholeMs(Math.max(1, delayMs)), options),
    );
    if (booked === undefined) return undefined;
    const { waitMs, pauseMs } = slotOf(booked);
    return { waitMs: Math.ceil(waitMs), pauseMs: Math.ceil(pauseMs) };
  }

  /**
   * Pauses an origin for at least `ms`; 0 only asks. Resolves with the milliseconds until the end of the pause in force.
   * The pause is kept until it ends, and sent again where the store was unreachable, or has forgotten.
   */
  async pause(origin: string, ms: number): Promise<number | undefined> {
    const { store } = this.#options;
    if (store.pause === undefined) return undefined;
    const until = this.#clock.now() + ms;
    const leftMs = await this.#move('pause', origin, (key) => store.pause?.(key, wholeMs(ms)));
    if (ms > 0) this.#keep(origin, until, leftMs !== undefined);
    return leftMs === undefined ? undefined : Math.ceil(leftMs);
  }

  close(): void {
    this.#closing.abort();
    this.#pauses.clear();
  }

  #keep(origin: string, until: number, isSent: boolean): void {
    if (this.#closing.signal.aborted || origin.length > MAX_ORIGIN_LENGTH) return;
    const before = this.#pauses.get(origin)?.until ?? until;
    this.#pauses.set(origin, { until: Math.max(until, before), isSent });
    if (!this.#isKeeping) void this.#keepAll();
  }

  async #keepAll(): Promise<void> {
    this.#isKeeping = true;
    const { signal } = this.#closing;
    while (this.#pauses.size > 0) {
      try {
        await sleepInBackground(this.#options.clock, ROUND_MS, signal);
      } catch {
        break;
      }
      await this.#round();
    }
    this.#isKeeping = false;
  }

  /** Sends what was not sent. Of the others it looks for a few, and if one is lost, all may be. */
  async #round(): Promise<void> {
    let checks = CHECKS_OF_ROUND;
    for (const [origin, kept] of [...this.#pauses]) {
      const leftMs = kept.until - this.#clock.now();
      if (leftMs <= 0) this.#pauses.delete(origin);
      else if (!kept.isSent || checks-- > 0) {
        const storedMs = await this.pause(origin, kept.isSent ? 0 : leftMs);
        // The others can wait until the store answers.
        if (storedMs === undefined) return;
        if (storedMs < leftMs - LOST_MS) for (const each of this.#pauses.values()) each.isSent = false;
        this.#moveToEnd(origin);
      }
    }
  }

  #moveToEnd(origin: string): void {
    const kept = this.#pauses.get(origin);
    if (this.#pauses.delete(origin) && kept !== undefined) this.#pauses.set(origin, kept);
  }

  async #move<Times extends number | StoreSlot>(
    operation: 'reserve' | 'pause',
    origin: string,
    send: (key: string) => Promise<Times> | undefined,
  ): Promise<Times | undefined> {
    if (origin.length > MAX_ORIGIN_LENGTH || this.#closing.signal.aborted) return undefined;
    const called = await this.#caller.call<Times | undefined>({
      operation,
      origin,
      patient: true,
      send: () => send(slotKey(origin)),
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
