/** A part that is loaded when it is first needed. When that fails, the next who needs it tries again. */
export class Lazy<Part> {
  readonly #load: () => Promise<Part>;
  #loading: Promise<Part> | undefined;
  #part: Part | undefined;

  constructor(load: () => Promise<Part>) {
    this.#load = load;
  }

  /** The part when it is loaded; `undefined` before. */
  get part(): Part | undefined {
    return this.#part;
  }

  /** The part, if anybody has needed it. Loads nothing. */
  get needed(): Promise<Part> | undefined {
    return this.#loading;
  }

  /** The part, loaded now if need be. Those who wait for it get it in the order in which they asked. */
  get(): Promise<Part> {
    this.#loading ??= this.#load().then(
      (part) => (this.#part = part),
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }
}
