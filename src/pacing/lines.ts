import type { Line } from './line.ts';

/** So many lines are looked at for one that can make room: a request must not pay for all of them. */
const MOST_LOOKED_AT = 64;

/**
 * The lines of a client's origins, in bounded number. Only a line that nothing depends on any more makes room: one in a
 * pause, in its gap, or with requests that wait or are under way stays. While all of them stay there is no line for a
 * further origin, so that its requests are deferred rather than a pause forgotten.
 */
export class Lines {
  readonly #lines = new Map<string, Line>();
  readonly #most: number;
  readonly #open: (origin: string) => Line;

  constructor(most: number, open: (origin: string) => Line) {
    this.#most = most;
    this.#open = open;
  }

  /** The line of an origin that has one. */
  peek(origin: string): Line | undefined {
    return this.#lines.get(origin);
  }

  /** The line of an origin; `undefined` when there is no room for it. */
  of(origin: string, now: number): Line | undefined {
    const known = this.#lines.get(origin);
    if (known !== undefined) return known;
    return this.#lines.size < this.#most || this.#makeRoom(now) ? this.#add(origin) : undefined;
  }

  /**
   * The line of an origin that pauses until then. Without room, the pause that ends first is forgotten, which may be this
   * one.
   */
  ofPause(origin: string, now: number, until: number): Line | undefined {
    const line = this.of(origin, now);
    if (line !== undefined) return line;
    let firstEnd = until;
    let first: string | undefined;
    for (const [each, { onlyPausesUntil = Infinity }] of this.#lines) {
      if (onlyPausesUntil < firstEnd) [firstEnd, first] = [onlyPausesUntil, each];
    }
    if (first === undefined) return undefined;
    this.#lines.delete(first);
    return this.#add(origin);
  }

  /** Rejects all waiting requests with `reason`, and forgets all lines. */
  close(reason: unknown): void {
    for (const line of this.#lines.values()) line.close(reason);
    this.#lines.clear();
  }

  #add(origin: string): Line {
    const line = this.#open(origin);
    this.#lines.set(origin, line);
    return line;
  }

  /** Removes the oldest line that can go. Those that cannot count as new. */
  #makeRoom(now: number): boolean {
    let looked = 0;
    for (const [origin, line] of this.#lines) {
      this.#lines.delete(origin);
      if (line.isIdleAt(now)) return true;
      this.#lines.set(origin, line);
      if (++looked >= Math.min(MOST_LOOKED_AT, this.#most)) return false;
    }
    return false;
  }
}
