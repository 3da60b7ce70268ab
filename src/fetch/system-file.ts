import { readFileSync, type Stats, statSync } from 'node:fs';

/** How long what was read is taken for granted. */
const RECHECK_MS = 5_000;

/** A small configuration file of the system, read when it is asked for, and again when it has changed. */
export class SystemFile<Content> {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #parse: (text: string) => Content;
  readonly #now: () => number;
  #content: Content | undefined;
  #stamp: string | undefined;
  #checkedAt = -Infinity;

  /** @param now Milliseconds of a clock that never goes back. */
  constructor(path: string, maxBytes: number, parse: (text: string) => Content, now: () => number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#parse = parse;
    this.#now = now;
  }

  /**
   * The same object as before unless the file has changed. A file that is missing, or may not be read, is empty;
   * `undefined` is one too large to hold.
   */
  read(): Content | undefined {
    const now = this.#now();
    if (now - this.#checkedAt < RECHECK_MS) return this.#content;
    this.#checkedAt = now;
    const stats = this.#stats();
    const stamp = stats === undefined ? '' : `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}`;
    if (stamp === this.#stamp) return this.#content;
    this.#stamp = stamp;
    this.#content = (stats?.size ?? 0) > this.#maxBytes ? undefined : this.#parse(this.#text());
    return this.#content;
  }

  /** Synchronous: a few microseconds, where a thread of the pool would have to be waited for. */
  #stats(): Stats | undefined {
    try {
      return statSync(this.#path);
    } catch {
      return undefined;
    }
  }

  #text(): string {
    try {
      return readFileSync(this.#path, 'utf8');
    } catch {
      return '';
    }
  }
}
