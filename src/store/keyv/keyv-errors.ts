/** The part of an instance of Keyv 4, 5 or 6 that is used. */
export interface KeyvInstance {
  get(key: string): Promise<unknown>;
  set(key: string, value: string, ttlMs?: number): Promise<unknown>;
  delete(key: string): Promise<unknown>;
  /** Keyv 5 only: whether calls reject when the backend fails. */
  readonly throwOnErrors?: boolean;
  on?(event: 'error', listener: (error: unknown) => void): unknown;
  off?(event: 'error', listener: (error: unknown) => void): unknown;
  listeners?(event: 'error'): readonly unknown[];
}

/**
 * Finds errors that a call of Keyv emits as an event instead of rejecting: those of Keyv 6 where somebody listens to
 * the event, and those of backends that emit them.
 *
 * An event does not name its call. So each call that ends without success, while an error was emitted, rejects with
 * it: at worst a miss is reported as a failure.
 */
export class KeyvErrors {
  private readonly keyv: KeyvInstance;
  private calls = 0;
  private isListening = false;
  private emitted = 0;
  private last: unknown;

  constructor(keyv: KeyvInstance) {
    this.keyv = keyv;
  }

  /** Calls Keyv. Rejects as it does, or with an error that was emitted if the result `mayHaveFailed`. */
  async of<Result>(call: () => Promise<Result>, mayHaveFailed: (result: Result) => boolean): Promise<Result> {
    if (this.calls++ === 0) this.listen();
    const before = this.emitted;
    try {
      const result = await call();
      if (this.emitted > before && mayHaveFailed(result)) throw this.last;
      return result;
    } finally {
      if (--this.calls === 0) this.endListening();
    }
  }

  /**
   * Listens only where that changes nothing for the caller: an emitted error that nobody listens to makes the calls of
   * Keyv 4 and 6 reject, and does nothing in Keyv 5, which alone has `throwOnErrors`.
   */
  private listen(): void {
    const { keyv } = this;
    const isHeard = (keyv.listeners?.('error').length ?? 0) > 0;
    this.isListening = isHeard || keyv.throwOnErrors === true;
    if (this.isListening) keyv.on?.('error', this.note);
  }

  private endListening(): void {
    if (this.isListening) this.keyv.off?.('error', this.note);
  }

  private readonly note = (error: unknown): void => {
    this.emitted++;
    this.last = error;
  };
}
