import type { Line } from './line.ts';

/** So many lines are looked at for one that can make room: a request must not pay for all of them. */
const MOST_LOOKED_AT = 64;

/**
 * The lines of a client's origins, in bounded number. A line in a pause, in its gap, or with requests that wait or are
 * under way makes no room. Of the others one that remembers an incident does so only when none without is found. While all
 * of them stay there is no line for a further origin, so that its requests are deferred rather than a pause forgotten.
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
  of(origin: string, now: number, mostLookedAt: number = MOST_LOOKED_AT): Line | undefined {
    const known = this.#lines.get(origin);
    if (known !== undefined) return known;
    const hasRoom = this.#lines.size < this.#most || this.#makeRoom(now, mostLookedAt);
    return hasRoom ? this.#add(origin) : undefined;
  }

  /**
   * The line of an origin that pauses until then. When no line at all can make room, the pause that ends first is
   * forgotten, which may be this one.
   */
  ofPause(origin: string, now: number, until: number): Line | undefined {
    const line = this.of(origin, now, this.#most);
    if (line !== undefined) return line;
    let firstEnd = until;
    let first: string | undefined;
    for (const [each, other] of this.#lines) {
      const end = other.onlyPausesUntil(now);
      if (end !== undefined && end < firstEnd) [firstEnd, first] = [end, each];
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
  #makeRoom(now: number, mostLookedAt: number): boolean {
    let looked = 0;
    let remembering: string | undefined;
    for (const [origin, line] of this.#lines) {
      this.#lines.delete(origin);
      const isIdle = line.isIdleAt(now);
      if (isIdle && !line.schedule.remembersIncidentAt(now)) return true;
      if (isIdle) remembering ??= origin;
      this.#lines.set(origin, line);
      if (++looked >= Math.min(mostLookedAt, this.#most)) break;
    }
    return remembering !== undefined && this.#lines.delete(remembering);
  }
}
