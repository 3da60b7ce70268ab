import type { OriginQueue } from './origin-queue.ts';

/** How many queues are examined for one to remove: bounds the cost of making room. */
const MAX_EXAMINED = 64;

/** The totals of all queues. */
export interface PacingTotals {
  /** Requests that wait. */
  readonly waiting: number;
  /** Requests that have started and not ended. */
  readonly inFlight: number;
  /** Origins in a pause. */
  readonly paused: number;
}

/**
 * The queues of a client's origins, in bounded number. A queue stays while it is in a pause or in its gap, or has
 * requests that wait or are in flight. One that remembers an incident goes after those that do not. When no queue can be evicted, the requests
 * of a further origin are deferred: no pause is lost.
 */
export class OriginQueues {
  readonly #queues = new Map<string, OriginQueue>();
  readonly #max: number;
  readonly #open: (origin: string) => OriginQueue;

  constructor(max: number, open: (origin: string) => OriginQueue) {
    this.#max = max;
    this.#open = open;
  }

  /** The queue of an origin that has one. */
  peek(origin: string): OriginQueue | undefined {
    return this.#queues.get(origin);
  }

  /** The queue of an origin; `undefined` when the limit is reached. */
  of(origin: string, now: number, maxExamined: number = MAX_EXAMINED): OriginQueue | undefined {
    const known = this.#queues.get(origin);
    if (known !== undefined) return known;
    const hasRoom = this.#queues.size < this.#max || this.#makeRoom(now, maxExamined);
    return hasRoom ? this.#add(origin) : undefined;
  }

  /**
   * The queue of an origin that pauses until then. When no queue can be evicted, the pause that ends first is dropped,
   * which may be this one.
   */
  ofPause(origin: string, now: number, until: number): OriginQueue | undefined {
    const queue = this.of(origin, now, this.#max);
    if (queue !== undefined) return queue;
    let firstEnd = until;
    let first: string | undefined;
    for (const [each, other] of this.#queues) {
      const end = other.onlyPausesUntil(now);
      if (end !== undefined && end < firstEnd) [firstEnd, first] = [end, each];
    }
    if (first === undefined) return undefined;
    this.#queues.delete(first);
    return this.#add(origin);
  }

  /** The clock was set forward by `ms`. */
  setForward(ms: number): void {
    for (const queue of this.#queues.values()) queue.setForward(ms);
  }

  totals(now: number): PacingTotals {
    const totals = { waiting: 0, inFlight: 0, paused: 0 };
    for (const { waiting, schedule } of this.#queues.values()) {
      totals.waiting += waiting;
      totals.inFlight += schedule.inFlightAt(now).length;
      if (schedule.pauseAt(now) !== undefined) totals.paused++;
    }
    return totals;
  }

  /** Rejects all waiting requests with `reason`, and forgets all queues. */
  close(reason: unknown): void {
    for (const queue of this.#queues.values()) queue.close(reason);
    this.#queues.clear();
  }

  #add(origin: string): OriginQueue {
    const queue = this.#open(origin);
    this.#queues.set(origin, queue);
    return queue;
  }

  /** Evicts the oldest queue that can go. Others move to the end. */
  #makeRoom(now: number, maxExamined: number): boolean {
    let examined = 0;
    let inCooldown: string | undefined;
    for (const [origin, queue] of this.#queues) {
      this.#queues.delete(origin);
      const isIdle = queue.isIdleAt(now);
      if (isIdle && !queue.schedule.isWithinCooldown(now)) return true;
      if (isIdle) inCooldown ??= origin;
      this.#queues.set(origin, queue);
      if (++examined >= Math.min(maxExamined, this.#max)) break;
    }
    return inCooldown !== undefined && this.#queues.delete(inCooldown);
  }
}
