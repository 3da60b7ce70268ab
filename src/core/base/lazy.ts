/** A value that is loaded when it is first needed. After a failure the next call of {@link load} tries again. */
export class Lazy<Value> {
  readonly #load: () => Promise<Value>;
  #pending: Promise<Value> | undefined;
  #value: Value | undefined;

  constructor(load: () => Promise<Value>) {
    this.#load = load;
  }

  /** The value once it is loaded; `undefined` before. */
  get value(): Value | undefined {
    return this.#value;
  }

  /** The value if {@link load} was called before. Loads nothing. */
  get pending(): Promise<Value> | undefined {
    return this.#pending;
  }

  /** Loads the value if need be. Callers get it in the order of their calls. */
  load(): Promise<Value> {
    this.#pending ??= this.#load().then(
      (value) => (this.#value = value),
      (error: unknown) => {
        this.#pending = undefined;
        throw error;
      },
    );
    return this.#pending;
  }
}
