import { createHash } from 'node:crypto';

/** Each update of a hash costs a microsecond, so that of many lines is one. */
const CHARACTERS_AT_ONCE = 65_536;

/** The number and the SHA-256 of the lines that a run has in a file. The `end` of the run states both. */
export class LinesDigest {
  readonly #hash = createHash('sha256');
  #waiting = '';
  count = 0;

  /** @param line With its line end. */
  add(line: string): void {
    this.count++;
    this.#waiting += line;
    if (this.#waiting.length > CHARACTERS_AT_ONCE) this.#update();
  }

  /** In hex, of the lines so far. */
  sha256(): string {
    this.#update();
    return this.#hash.copy().digest('hex');
  }

  #update(): void {
    this.#hash.update(this.#waiting);
    this.#waiting = '';
  }
}
