import { onAbort, LightAbortController, type LightAbortSignal, ignore } from '../base/index.ts';

/**
 * At most one flight per key; concurrent callers share it. An abort by one caller rejects that caller only. The
 * flight is aborted when all callers have left, or by `close`.
 */
export class SingleFlight<Value> {
  readonly #flights = new Map<string, Flight<Value>>();
  /** Flights that later callers do not join. Their callers still wait. */
  readonly #detached = new Set<Flight<Value>>();
  readonly #closing = new LightAbortController();

  get size(): number {
    return this.#flights.size;
  }

  has(key: string): boolean {
    return this.#flights.has(key);
  }

  /**
   * Joins the flight of `key`, and starts it if there is none. Rejects with `signal.reason` on abort, with the reason of
   * {@link close}, otherwise with what `start` rejects with. `isCurrent` tells `start` whether its flight has been detached.
   */
  join(
    key: string,
    start: (signal: LightAbortSignal, isCurrent: () => boolean) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (this.#closing.aborted) return Promise.reject(this.#closing.reason);
    let flight = this.#flights.get(key);
    if (flight === undefined) {
      const started = new Flight<Value>(() => {
        if (this.#flights.get(key) === started) this.#flights.delete(key);
        else this.#detached.delete(started);
      });
      this.#flights.set(key, started);
      started.run((flightSignal) => start(flightSignal, () => this.#flights.get(key) === started));
      flight = started;
    }
    return flight.join(signal);
  }

  /** Detaches the flight of `key`: its waiters still get its result, later callers start a new flight. */
  detach(key: string): void {
    const flight = this.#flights.get(key);
    if (flight !== undefined) this.#detached.add(flight);
    this.#flights.delete(key);
  }

  /** {@link detach} for all keys. */
  detachAll(): void {
    for (const key of [...this.#flights.keys()]) this.detach(key);
  }

  /** Aborts every flight, also detached ones. All waiters, and later callers, are rejected with `reason`. */
  close(reason: unknown): void {
    this.#closing.abort(reason);
    for (const flight of [...this.#flights.values(), ...this.#detached]) flight.abort(reason);
  }
}

class Flight<Value> {
  readonly #controller = new LightAbortController();
  readonly #landed: () => void;
  readonly #result: Promise<Value>;
  #resolve!: (value: Value) => void;
  #reject!: (reason: unknown) => void;
  #passengers = 0;

  constructor(landed: () => void) {
    this.#landed = landed;
    this.#result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // All callers may have left before it fails, which would be an unhandled rejection.
    this.#result.catch(ignore);
  }

  run(start: (signal: LightAbortSignal) => Promise<Value>): void {
    start(this.#controller).then(
      (value) => {
        this.#landed();
        this.#resolve(value);
      },
      (reason: unknown) => {
        this.#landed();
        this.#reject(reason);
      },
    );
  }

  join(signal: AbortSignal | undefined): Promise<Value> {
    this.#passengers++;
    // A caller without a signal never leaves.
    if (signal === undefined) return this.#result;
    return new Promise((resolve, reject) => {
      const stay = onAbort(signal, () => {
        reject(signal.reason);
        this.#passengers--;
        if (this.#passengers === 0) this.abort(signal.reason);
      });
      this.#result.finally(stay).then(resolve, reject);
    });
  }

  /** Aborts the flight. Waiters are rejected at once, whatever the work does; later callers start a new flight. */
  abort(reason: unknown): void {
    this.#landed();
    this.#reject(reason);
    this.#controller.abort(reason);
  }
}
