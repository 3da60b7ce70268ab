/** Work that lasts longer goes on without its place. Milliseconds of real time. */
const PLACE_MS = 2_000;
/** The most works without a place, as a multiple of the places. */
const MAX_SLOW = 8;

/**
 * Bounds how much work is under way. Slow work gives up its place after 2 s, and a free place goes to the newest and to the
 * oldest work in turn: so a thousand hosts that hang hold up no other for long, whichever was asked first.
 */
export class Places {
  readonly #size: number;
  #taken = 0;
  /** Works that go on without their place. */
  #slow = 0;
  /** Those who wait, by their number. Only the first and the last are ever taken. */
  readonly #waiting = new Map<number, () => void>();
  #first = 0;
  #next = 0;
  #isNewestNext = true;

  constructor(size: number) {
    this.#size = size;
  }

  /** Starts `work` when it has a place. Settles as it does. */
  async run<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#taken < this.#size) this.#taken++;
    else await new Promise<void>((resolve) => this.#waiting.set(this.#next++, resolve));
    let holdsPlace = true;
    const timer = setTimeout(() => {
      if (this.#slow >= MAX_SLOW * this.#size) return;
      holdsPlace = false;
      this.#slow++;
      this.#pass();
    }, PLACE_MS);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      if (holdsPlace) this.#pass();
      else this.#slow--;
    }
  }

  /** Forgets those who wait: their work is never started. */
  clear(): void {
    this.#waiting.clear();
    this.#first = this.#next;
  }

  /** Passes a place on, or frees it. */
  #pass(): void {
    if (this.#waiting.size === 0) {
      this.#first = this.#next;
      this.#taken--;
      return;
    }
    const number = this.#isNewestNext ? --this.#next : this.#first++;
    this.#isNewestNext = !this.#isNewestNext;
    const start = this.#waiting.get(number);
    this.#waiting.delete(number);
    start?.();
  }
}
