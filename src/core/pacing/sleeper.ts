import { type Clock, type MonotonicClock, sleepWith, systemClock } from '../base/index.ts';

interface Sleep {
  readonly until: number;
  readonly forPermit: boolean;
  wake(): void;
}

/** Maximum sleep: the clock may be set, or the machine suspended, meanwhile. */
const MAX_SLEEP_MS = 60_000;
/** A clock may leave a listener behind for each sleep, and Node warns above ten. */
const MAX_SLEEPS_PER_SIGNAL = 8;
const WAKE = Symbol('wake');

/**
 * The sleep of a loop, which may end early: the loop then looks again at what it waits for. A timer needs no
 * `AbortSignal`, and one for a clock is used again: to create it takes as long as all other work of a waiting request.
 */
export class Sleeper {
  readonly #clock: Clock;
  readonly #monotonic: MonotonicClock;
  readonly #hasTimer: boolean;
  #sleep: Sleep | undefined;
  #controller: AbortController | undefined;
  #sleeps = 0;

  constructor(clock: Clock, monotonic: MonotonicClock) {
    this.#clock = clock;
    this.#monotonic = monotonic;
    this.#hasTimer = clock === systemClock || clock.sleep === undefined;
  }

  /** The end of the sleep; `-Infinity` while the loop is awake. */
  get until(): number {
    return this.#sleep?.until ?? -Infinity;
  }

  /** Whether the end of another request is awaited. */
  get isForPermit(): boolean {
    return this.#sleep?.forPermit === true;
  }

  /**
   * Resolves at `at` or earlier. Rejects as the clock does.
   *
   * @param forPermit The end of another request is awaited, at most until then.
   */
  async sleepUntil(at: number, now: number, forPermit = false): Promise<void> {
    const until = Math.min(at, now + MAX_SLEEP_MS);
    const { shown } = this.#monotonic;
    this.#monotonic.sleep();
    try {
      const isOver = this.#hasTimer
        ? this.#sleepByTimer(until, now, forPermit)
        : this.#sleepByClock(until, now, forPermit);
      if (await isOver) this.#monotonic.advanceFrom(shown, until, until - now);
    } catch (error) {
      if (error !== WAKE) throw error;
    } finally {
      this.#monotonic.wake();
      this.#sleep = undefined;
    }
  }

  /** Ends the sleep. */
  wake(): void {
    this.#sleep?.wake();
  }

  /** Resolves with `false` when it was woken. */
  #sleepByTimer(until: number, now: number, forPermit: boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, until - now, true);
      const wake = (): void => {
        clearTimeout(timer);
        resolve(false);
      };
      this.#sleep = { until, forPermit, wake };
    });
  }

  /** Rejects with {@link WAKE} when it was woken. */
  #sleepByClock(until: number, now: number, forPermit: boolean): Promise<true> {
    if (this.#controller?.signal.aborted !== false || this.#sleeps >= MAX_SLEEPS_PER_SIGNAL) {
      this.#controller = new AbortController();
      this.#sleeps = 0;
    }
    this.#sleeps++;
    const controller = this.#controller;
    this.#sleep = { until, forPermit, wake: () => controller.abort(WAKE) };
    return sleepWith(this.#clock, until - now, controller.signal, forPermit).then(() => true);
  }
}
