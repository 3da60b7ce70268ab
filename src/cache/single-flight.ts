import { onAbort, StopController, type StopSignal } from '../base/index.ts';

/**
 * At most one flight per key: whoever asks while it is under way shares it. A caller who aborts leaves alone;
 * the flight is aborted only when everybody has left, or on `abortAll`.
 */
export class SingleFlight<Value> {
  private readonly flights = new Map<string, Flight<Value>>();

  get size(): number {
    return this.flights.size;
  }

  has(key: string): boolean {
    return this.flights.has(key);
  }

  /**
   * Joins the flight of `key`, starting it if there is none. Rejects with `signal.reason` when that aborts, with
   * what `start` rejects with otherwise. `isCurrent` tells `start` whether its flight was detached meanwhile.
   */
  join(
    key: string,
    start: (signal: StopSignal, isCurrent: () => boolean) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    let flight = this.flights.get(key);
    if (flight === undefined) {
      const made = new Flight<Value>(() => {
        if (this.flights.get(key) === made) this.flights.delete(key);
      });
      this.flights.set(key, made);
      made.take((flightSignal) => start(flightSignal, () => this.flights.get(key) === made));
      flight = made;
    }
    return flight.join(signal);
  }

  /** Those who wait for the flight of `key` still get its result; whoever asks from now on starts a new one. */
  detach(key: string): void {
    this.flights.delete(key);
  }

  /** Aborts every flight; all who wait are rejected with `reason`. */
  abortAll(reason: unknown): void {
    for (const flight of [...this.flights.values()]) flight.abort(reason);
  }
}

class Flight<Value> {
  private readonly stop = new StopController();
  private readonly landed: () => void;
  private readonly result: Promise<Value>;
  private resolve!: (value: Value) => void;
  private reject!: (reason: unknown) => void;
  private passengers = 0;

  constructor(landed: () => void) {
    this.landed = landed;
    this.result = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Everybody may have left by the time it fails.
    this.result.catch(ignore);
  }

  take(start: (signal: StopSignal) => Promise<Value>): void {
    start(this.stop).then(
      (value) => {
        this.landed();
        this.resolve(value);
      },
      (reason: unknown) => {
        this.landed();
        this.reject(reason);
      },
    );
  }

  join(signal: AbortSignal | undefined): Promise<Value> {
    this.passengers++;
    // Without a signal a passenger never leaves.
    if (signal === undefined) return this.result;
    return new Promise((resolve, reject) => {
      const stay = onAbort(signal, () => {
        reject(signal.reason);
        this.passengers--;
        if (this.passengers === 0) this.abort(signal.reason);
      });
      this.result.finally(stay).then(resolve, reject);
    });
  }

  /** Whoever asks from now on starts a new flight; those who wait learn of it at once, whatever the work makes of it. */
  abort(reason: unknown): void {
    this.landed();
    this.reject(reason);
    this.stop.abort(reason);
  }
}

function ignore(): void {}
