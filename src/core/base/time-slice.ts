/** Resolves when other work of the event loop has had its turn: `setImmediate`, which browsers and Workers lack. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}

/** After this time a loop yields, so that other requests are served. */
const TIME_SLICE_MS = 10;

/** Divides a long loop, so that other work of the event loop runs. */
export class TimeSlice {
  readonly #signal: AbortSignal | undefined;
  #endsAt = performance.now() + TIME_SLICE_MS;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether it is time to call {@link yield}. */
  get isOver(): boolean {
    return performance.now() > this.#endsAt;
  }

  /** Lets other requests run. Throws the reason of the signal when it is aborted. */
  async yield(): Promise<void> {
    await yieldToEventLoop();
    this.#signal?.throwIfAborted();
    this.#endsAt = performance.now() + TIME_SLICE_MS;
  }
}
