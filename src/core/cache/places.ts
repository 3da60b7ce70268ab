/** Work that lasts longer goes on without its place. Milliseconds of real time. */
const PLACE_MS = 2_000;
/** The most works without a place, as a multiple of the places. */
const MAX_SLOW = 8;

/**
 * Bounds how much work is under way. Slow work gives up its place after 2 s, and a free place goes to the newest and to the
 * oldest work in turn: so a thousand hosts that hang hold up no other for long, whichever was asked first.
 */
export class Places {
  readonly #maxSlow: number;
  #free: number;
  /** Works without a place. */
  #slow = 0;
  /** Those who wait, by their number. Only the first and the last are ever taken. */
  readonly #waiting = new Map<number, () => void>();
  #first = 0;
  #next = 0;
  #isNewestNext = true;

  constructor(size: number) {
    this.#free = size;
    this.#maxSlow = size * MAX_SLOW;
  }

  /** Starts `work` when it has a place, not before the caller has gone on. Settles as it does. */
  run<Value>(work: () => Promise<Value>): Promise<Value> {
    return new Promise((resolve) => {
      this.#waiting.set(this.#next++, () => resolve(this.#withPlace(work)));
      this.#startNext();
    });
  }

  /** Forgets those who wait: their work is never started. */
  clear(): void {
    this.#waiting.clear();
    this.#first = this.#next;
  }

  #startNext(): void {
    if (this.#free === 0 || this.#waiting.size === 0) return;
    this.#free--;
    const number = this.#isNewestNext ? --this.#next : this.#first++;
    // One that waits alone is both.
    if (this.#waiting.size > 1) this.#isNewestNext = !this.#isNewestNext;
    const start = this.#waiting.get(number);
    this.#waiting.delete(number);
    start?.();
  }

  #giveUp(): void {
    this.#free++;
    this.#startNext();
  }

  async #withPlace<Value>(work: () => Promise<Value>): Promise<Value> {
    let isSlow = false;
    const timer = setTimeout(() => {
      if (this.#slow >= this.#maxSlow) return;
      isSlow = true;
      this.#slow++;
      this.#giveUp();
    }, PLACE_MS);
    try {
      await undefined;
      return await work();
    } finally {
      clearTimeout(timer);
      if (isSlow) this.#slow--;
      else this.#giveUp();
    }
  }
}
