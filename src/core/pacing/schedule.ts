import type { Pause } from '../decision/index.ts';
import type { Gap } from './gap.ts';
import { isRemembered, nextPause, type PauseSignal } from './pause.ts';

/** Why a request cannot leave yet. */
export type DelayFrom = Gap['delayFrom'] | 'concurrency' | Pause['delayFrom'];

/** A request that wants to leave. */
export interface Wanted {
  readonly gap: Gap;
  /** The most requests under way at the same time, this one included. */
  readonly concurrency: number;
  /** The earliest time for it. */
  readonly notBefore: number;
}

/** A time for a request, and what keeps it from leaving before. */
export interface Departure {
  readonly at: number;
  readonly delayFrom: DelayFrom;
}

/** When a request may leave: the earliest time by gaps and pauses. */
export interface Due extends Departure {
  /** The latest time at which a place will be free. Most requests end before. */
  readonly placeAt: number;
}

/** The place of a request among those under way: from the time it may leave until its end. */
export interface Place {
  /** When it may leave, then when it left. */
  at: number;
  hasLeft: boolean;
  /** The place is free then, even if nobody has told the end. */
  freeAt: number;
  readonly gap: Gap;
  readonly delayFrom: DelayFrom;
  /** The departure before this one, in case it is given back. */
  before: Place | undefined;
}

/** How long a place is held for a request that does not leave, or whose body is not read to its end. */
export const PLACE_HELD_MS = 30_000;
/** How long a place is held for a request without an answer: somebody may have forgotten it, as a page that is closed. */
const UNANSWERED_HELD_MS = 600_000;

/**
 * The schedule of one origin. Pure: it gets the time as a number that never goes back, and never waits.
 *
 * Two departures are a gap apart, no more requests are under way than allowed, and none leaves during a pause. All
 * three are checked when a place is taken, and again when its request leaves: a process may wake up late, and a site
 * may ask for a pause in between.
 */
export class Schedule {
  #last: Place | undefined;
  readonly #places = new Set<Place>();
  #latestPause: Pause | undefined;

  due(now: number, { gap, concurrency, notBefore }: Wanted): Due {
    const last = this.#last;
    let { at, delayFrom }: Departure = { at: notBefore, delayFrom: gap.delayFrom };
    if (last !== undefined) {
      const { delayMs, delayFrom: from } = longer(last.gap, gap);
      if (last.at + delayMs > at) [at, delayFrom] = [last.at + delayMs, from];
    }
    const pause = this.pauseAt(now);
    if (pause !== undefined && pause.until > at) [at, delayFrom] = [pause.until, pause.delayFrom];
    return { at, delayFrom, placeAt: this.#placeAt(now, concurrency) };
  }

  /** Takes a place for a request that may leave at that time. Only when {@link due} says so. */
  take({ at, delayFrom }: Departure, gap: Gap): Place {
    const freeAt = at + PLACE_HELD_MS;
    const place: Place = { at, hasLeft: false, freeAt, gap, delayFrom, before: this.#last };
    this.#places.add(place);
    this.#last = place;
    return place;
  }

  /** Whether the request of `place` leaves now. When it may not, it needs another place. */
  leave(place: Place, now: number): boolean {
    const last = this.#last;
    if (now >= place.freeAt || !this.#places.has(place) || this.pauseAt(now) !== undefined) return false;
    if (now < place.at) return false;
    if (last !== undefined && last !== place && now < last.at + longer(last.gap, place.gap).delayMs)
      return false;
    place.at = now;
    place.hasLeft = true;
    place.freeAt = now + UNANSWERED_HELD_MS;
    place.before = undefined;
    this.#last = place;
    return true;
  }

  /** Frees a place; if its request has not left, the next one may leave instead. Returns whether it was taken. */
  free(place: Place): boolean {
    if (!this.#places.delete(place)) return false;
    if (this.#last === place && !place.hasLeft) this.#last = place.before;
    place.before = undefined;
    return true;
  }

  /** Learns what an answer says. Returns the pause that it begins or lengthens. */
  learn(signal: PauseSignal): Pause | undefined {
    const pause = nextPause(this.#latestPause, signal);
    this.#latestPause = pause ?? this.#latestPause;
    return pause;
  }

  /** Whether no request is under way, and the latest gap and pause are over. */
  isIdleAt(now: number): boolean {
    return (
      !this.hasPlacesAt(now) &&
      this.pauseAt(now) === undefined &&
      (this.#last === undefined || now >= this.#last.at + this.#last.gap.delayMs)
    );
  }

  /** Whether its last incident counts yet: the next pause will be longer. */
  remembersIncidentAt(now: number): boolean {
    return this.#latestPause !== undefined && isRemembered(this.#latestPause, now);
  }

  /** Whether somebody has a place. */
  hasPlacesAt(now: number): boolean {
    for (const { freeAt } of this.#places) if (freeAt > now) return true;
    return false;
  }

  /** The pause in force. */
  pauseAt(now: number): Pause | undefined {
    return this.#latestPause !== undefined && now < this.#latestPause.until ? this.#latestPause : undefined;
  }

  #placeAt(now: number, concurrency: number): number {
    if (this.#places.size < concurrency) return now;
    // Whoever has an expired place may have made the request all the same.
    for (const place of this.#places)
      if (place.freeAt <= now && this.#places.delete(place)) place.before = undefined;
    if (this.#places.size < concurrency) return now;
    const ends = Array.from(this.#places, ({ freeAt }) => freeAt).sort((one, other) => one - other);
    return ends[this.#places.size - concurrency] ?? now;
  }
}

/** The longer gap of two neighbours counts, so that a delay just learnt holds at once. */
function longer(one: Gap, other: Gap): Gap {
  return one.delayMs > other.delayMs ? one : other;
}
