import pLimit, { type LimitFunction } from 'p-limit';
import { ignore } from '../base/index.ts';

/** Work that lasts longer goes on without its place. Milliseconds of real time. */
const PLACE_MS = 2_000;
/** The most works without a place, as a multiple of the places. */
const MAX_SLOW = 8;

/**
 * Bounds how much work is under way. Slow work gives up its place after 2 s, and a free place goes to the newest and to the
 * oldest work in turn: so a thousand hosts that hang hold up no other for long, whichever was asked first.
 */
export class Places {
  readonly #limit: LimitFunction;
  readonly #mostUnderWay: number;
  /** Those who wait, by their number. Only the first and the last are ever taken. */
  readonly #waiting = new Map<number, () => Promise<unknown>>();
  #first = 0;
  #next = 0;
  #isNewestNext = true;

  constructor(size: number) {
    this.#limit = pLimit(size);
    this.#mostUnderWay = size * (1 + MAX_SLOW);
  }

  /** Starts `work` when it has a place. Settles as it does. */
  run<Value>(work: () => Promise<Value>): Promise<Value> {
    const limit = this.#limit;
    if (limit.activeCount < limit.concurrency) return limit(() => this.#withPlace(work));
    return new Promise((resolve) => {
      this.#waiting.set(this.#next++, () => {
        const started = this.#withPlace(work);
        resolve(started);
        return started;
      });
      limit(() => this.#take()).catch(ignore);
    });
  }

  /** Forgets those who wait: their work is never started. */
  clear(): void {
    this.#limit.clearQueue();
    this.#waiting.clear();
    this.#first = this.#next;
  }

  async #take(): Promise<unknown> {
    const number = this.#isNewestNext ? --this.#next : this.#first++;
    this.#isNewestNext = !this.#isNewestNext;
    const start = this.#waiting.get(number);
    this.#waiting.delete(number);
    return start?.();
  }

  async #withPlace<Value>(work: () => Promise<Value>): Promise<Value> {
    let isSlow = false;
    const timer = setTimeout(() => {
      if (this.#limit.concurrency >= this.#mostUnderWay) return;
      isSlow = true;
      this.#limit.concurrency++;
    }, PLACE_MS);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      if (isSlow) this.#limit.concurrency--;
    }
  }
}
