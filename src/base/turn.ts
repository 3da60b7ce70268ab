import { nextTurn } from './clock.ts';

/** After this time a loop yields, so that other requests are answered. */
const TURN_MS = 10;

/** The turn of a long loop on the event loop. */
export class Turn {
  readonly #signal: AbortSignal;
  #endsAt = performance.now() + TURN_MS;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether it is time to call {@link yield}. */
  get isOver(): boolean {
    return performance.now() > this.#endsAt;
  }

  /** Lets other requests have their turn. Throws the reason of the signal when it is aborted. */
  async yield(): Promise<void> {
    await nextTurn();
    this.#signal.throwIfAborted();
    this.#endsAt = performance.now() + TURN_MS;
  }
}
