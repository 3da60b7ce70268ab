import { assertKnownOptions, type Clock, invalid } from '../base/index.ts';

export interface VirtualClockOptions {
  /** Epoch ms to start at. @default noon of 15 January 2026, UTC */
  readonly startAt?: number;
  /**
   * Whoever waits moves the time on, as soon as the process has nothing else to do at once: a crawl with long delays
   * ends in no time.
   * @default false: the time moves by `advance` alone
   */
  readonly autoAdvance?: boolean;
}

/** A clock that stands until it is moved. Give it to a `RobotsClient` as `clock`. */
export interface VirtualClock extends Required<Clock> {
  /**
   * Moves the time on, from one who waits to the next: each goes on at the very time it waited for. Where nobody
   * waits the time has moved when the call returns; else when its promise resolves.
   */
  advance(ms: number): Promise<void>;
  /** Resolves when `count` wait at the same time. */
  whenWaiting(count?: number): Promise<void>;
  /** How many wait. */
  readonly waiting: number;
}

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

interface Watcher {
  readonly count: number;
  readonly notify: () => void;
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
 * await clock.advance(24 * 60 * 60 * 1000); // what robots.txt said is a day old now
 * ```
 */
export function virtualClock(options: VirtualClockOptions = {}): VirtualClock {
  assertKnownOptions(options, ['startAt', 'autoAdvance']);
  const { startAt = Date.UTC(2026, 0, 15, 12), autoAdvance = false } = options;
  if (!Number.isFinite(startAt)) throw invalid('`startAt`', 'epoch milliseconds', startAt);
  return new SteppingClock(startAt, autoAdvance);
}

class SteppingClock implements VirtualClock {
  private time: number;
  private readonly autoAdvance: boolean;
  private readonly sleepers = new Set<Sleeper>();
  private readonly watchers = new Set<Watcher>();
  private moving = false;

  constructor(startAt: number, autoAdvance: boolean) {
    this.time = startAt;
    this.autoAdvance = autoAdvance;
  }

  /** Readable without `this`, so that it can be handed on by itself. */
  readonly now = (): number => this.time;

  readonly sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const leave = (): void => {
        this.sleepers.delete(sleeper);
        signal.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        leave();
        reject(signal.reason);
      };
      const sleeper: Sleeper = {
        until: this.time + ms,
        wake: () => {
          leave();
          resolve();
        },
      };
      this.sleepers.add(sleeper);
      signal.addEventListener('abort', abort, { once: true });
      for (const watcher of this.watchers) if (this.sleepers.size >= watcher.count) watcher.notify();
      if (this.autoAdvance) void this.moveWhileWaited();
    });

  async advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw invalid('`ms`', 'milliseconds from 0 on', ms);
    const target = this.time + ms;
    // Whoever can go on now does so now, not after the first step.
    if (this.sleepers.size > 0) await turn();
    for (let next; (next = this.first()) !== undefined && next.until <= target;) {
      this.time = Math.max(this.time, next.until);
      next.wake();
      // Who was woken may wait again, within the time that is left.
      await turn();
    }
    this.time = Math.max(this.time, target);
  }

  whenWaiting(count = 1): Promise<void> {
    if (this.sleepers.size >= count) return Promise.resolve();
    return new Promise((resolve) => {
      const watcher: Watcher = {
        count,
        notify: () => {
          this.watchers.delete(watcher);
          resolve();
        },
      };
      this.watchers.add(watcher);
    });
  }

  get waiting(): number {
    return this.sleepers.size;
  }

  private async moveWhileWaited(): Promise<void> {
    if (this.moving) return;
    this.moving = true;
    await turn();
    for (let next; (next = this.first()) !== undefined; await turn()) {
      this.time = Math.max(this.time, next.until);
      next.wake();
    }
    this.moving = false;
  }

  /** Who is to go on first; of several at one time, who came first. */
  private first(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.sleepers) {
      if (first === undefined || sleeper.until < first.until) first = sleeper;
    }
    return first;
  }
}

/** One turn of the event loop: everybody who can go on has. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
