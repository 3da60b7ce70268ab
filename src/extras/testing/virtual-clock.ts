import { assertKnownOptions, type Clock, invalid, onAbort, yieldToEventLoop } from '../../core/base/index.ts';

export interface VirtualClockOptions {
  /** Epoch ms to start at. @default noon of 15 January 2026, UTC */
  readonly startAt?: number;
  /**
   * Whether waits move the time forward, as soon as the event loop is idle. A crawl with long delays then takes no time.
   * @default false: only `advance` moves the time
   */
  readonly autoAdvance?: boolean;
}

/** A clock that only moves when it is advanced. Give it to a `RobotsClient` as `clock`. */
export interface VirtualClock extends Required<Clock> {
  /**
   * Moves the time forward by `ms`, and wakes each waiting caller at the time it waits for. Without waiting callers
   * the time has moved when the call returns; otherwise when the promise resolves.
   */
  advance(ms: number): Promise<void>;
  /** Resolves when `count` callers wait at the same time. */
  whenWaiting(count?: number): Promise<void>;
  /** Number of waiting callers. */
  readonly waiting: number;
}

interface Sleeper {
  readonly until: number;
  /** It waits for a response: time does not move by itself for it. */
  readonly isBound: boolean;
  readonly wake: () => void;
}

/**
 * Makes a clock for tests.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 *
 * @example
 * ```ts
 * const clock = virtualClock();
 * const robots = new RobotsClient({ clock });
 * await clock.advance(24 * 60 * 60 * 1000); // cached robots.txt files are now a day old
 * ```
 */
export function virtualClock(options: VirtualClockOptions = {}): VirtualClock {
  assertKnownOptions(options, ['startAt', 'autoAdvance']);
  const { startAt = Date.UTC(2026, 0, 15, 12), autoAdvance = false } = options;
  if (!Number.isFinite(startAt)) throw invalid('`startAt`', 'epoch milliseconds', startAt);
  return new SteppingClock(startAt, autoAdvance);
}

class SteppingClock implements VirtualClock {
  #time: number;
  readonly #autoAdvance: boolean;
  readonly #sleepers = new Set<Sleeper>();
  /** Called when another caller waits. */
  readonly #watchers: (() => void)[] = [];
  #moving = false;

  constructor(startAt: number, autoAdvance: boolean) {
    this.#time = startAt;
    this.#autoAdvance = autoAdvance;
  }

  /** Bound, so that it can be passed on by itself. */
  readonly now = (): number => this.#time;

  readonly sleep = (ms: number, signal: AbortSignal, isBound = false): Promise<void> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const leave = (): void => {
        this.#sleepers.delete(sleeper);
        unlisten();
      };
      const sleeper: Sleeper = {
        until: this.#time + ms,
        isBound,
        wake: () => {
          leave();
          resolve();
        },
      };
      const unlisten = onAbort(signal, () => {
        leave();
        reject(signal.reason);
      });
      this.#sleepers.add(sleeper);
      for (const notify of this.#watchers.splice(0)) notify();
      if (this.#autoAdvance) void this.#moveWhileWaited();
    });

  async advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw invalid('`ms`', 'milliseconds, 0 or more', ms);
    const target = this.#time + ms;
    // Callers that can go on at once do so before the first step.
    if (this.#sleepers.size > 0) await yieldToEventLoop();
    for (let next; (next = this.#first()) !== undefined && next.until <= target;) {
      this.#time = Math.max(this.#time, next.until);
      next.wake();
      // A woken caller may wait again, within the remaining time.
      await yieldToEventLoop();
    }
    this.#time = Math.max(this.#time, target);
  }

  async whenWaiting(count = 1): Promise<void> {
    while (this.#sleepers.size < count)
      await new Promise<void>((resolve) => void this.#watchers.push(resolve));
  }

  get waiting(): number {
    return this.#sleepers.size;
  }

  async #moveWhileWaited(): Promise<void> {
    if (this.#moving) return;
    this.#moving = true;
    await yieldToEventLoop();
    for (let next; (next = this.#first(false)) !== undefined; await yieldToEventLoop()) {
      this.#time = Math.max(this.#time, next.until);
      next.wake();
    }
    this.#moving = false;
    // Responses of a real server may still be on their way to waiters whose time has passed.
    const overdue = [...this.#sleepers].filter(({ until }) => until <= this.#time);
    if (overdue.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
    for (const sleeper of overdue) if (this.#sleepers.has(sleeper)) sleeper.wake();
  }

  /** The caller to wake next: the earliest time, then the first to wait. */
  #first(withBound = true): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (sleeper.isBound && !withBound) continue;
      if (first === undefined || sleeper.until < first.until) first = sleeper;
    }
    return first;
  }
}

/** Real time for a response whose deadline has passed in virtual time. */
const PATIENCE_MS = 100;
