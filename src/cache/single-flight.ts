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
   * what `start` rejects with otherwise.
   */
  join(key: string, start: (signal: AbortSignal) => Promise<Value>, signal?: AbortSignal): Promise<Value> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    let flight = this.flights.get(key);
    if (flight === undefined) {
      flight = new Flight(start, () => {
        if (this.flights.get(key) === flight) this.flights.delete(key);
      });
      this.flights.set(key, flight);
    }
    return flight.join(signal);
  }

  /** Aborts every flight; all who wait are rejected with `reason`. */
  abortAll(reason: unknown): void {
    for (const flight of [...this.flights.values()]) flight.abort(reason);
  }
}

class Flight<Value> {
  private readonly controller = new AbortController();
  private readonly result: Promise<Value>;
  private readonly end: () => void;
  private passengers = 0;

  constructor(start: (signal: AbortSignal) => Promise<Value>, end: () => void) {
    this.end = end;
    const { signal } = this.controller;
    this.result = new Promise((resolve, reject) => {
      // Those who wait learn of an abort at once, whatever the work makes of it.
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      start(signal).finally(end).then(resolve, reject);
    });
    // Everybody may have left by the time it fails.
    this.result.catch(() => undefined);
  }

  join(signal: AbortSignal | undefined): Promise<Value> {
    this.passengers++;
    // Without a signal a passenger never leaves.
    if (signal === undefined) return this.result;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        reject(signal.reason);
        this.passengers--;
        if (this.passengers === 0) this.abort(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.result.finally(() => signal.removeEventListener('abort', leave)).then(resolve, reject);
    });
  }

  /** Whoever asks from now on starts a new flight. */
  abort(reason: unknown): void {
    this.end();
    this.controller.abort(reason);
  }
}
