import { invalid, RobotsInvalidOptionsError } from '../base/index.ts';
import type { Decision } from '../decision/index.ts';
import { hostOf, type PacingScope } from './options.ts';
import { PacingQueue, type QueueOptions } from './queue.ts';

/** How many queues are examined for one to remove: bounds the cost of making room. */
const MAX_EXAMINED = 64;

/** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the function throws, or returns no text. */
export function scopeOf(scope: PacingScope, { url, origin }: Pick<Decision, 'url' | 'origin'>): string {
  if (scope === 'host') return hostOf(origin);
  if (scope === 'origin') return origin;
  let key: unknown;
  try {
    key = scope(new URL(url));
  } catch (cause) {
    throw new RobotsInvalidOptionsError(`Expected \`scope\` to return text for ${url}, but it threw`, {
      cause,
    });
  }
  if (typeof key === 'string' && key !== '') return key;
  throw invalid(`\`scope(${url})\``, 'text that is not empty', key);
}

/** The totals of all queues. */
export interface PacingTotals {
  /** Requests that wait. */
  readonly waiting: number;
  /** Requests that have started and not ended. */
  readonly inFlight: number;
  /** Hosts, or other scopes, in a pause. */
  readonly paused: number;
}

/**
 * The queues of a client, in bounded number. A queue stays while it is in a pause or in its gap, or has requests that
 * wait or are in flight. One that remembers an incident goes after those that do not. When no queue can be removed, no
 * further one is made.
 */
export class PacingQueues {
  readonly #queues = new Map<string, PacingQueue>();
  readonly #max: number;
  readonly #options: QueueOptions;

  constructor(max: number, options: QueueOptions) {
    this.#max = max;
    this.#options = options;
  }

  /** The queue of a scope, if there is one. */
  peek(scope: string): PacingQueue | undefined {
    return this.#queues.get(scope);
  }

  /** The queue of a scope, for a request to an origin; `undefined` when the limit is reached. */
  get(scope: string, origin: string, now: number): PacingQueue | undefined {
    const known = this.#queues.get(scope);
    if (known !== undefined) {
      known.origin = origin;
      return known;
    }
    if (this.#queues.size >= this.#max && !this.#makeRoom(now)) return undefined;
    const queue = new PacingQueue(scope, origin, this.#options);
    this.#queues.set(scope, queue);
    return queue;
  }

  all(): readonly PacingQueue[] {
    return [...this.#queues.values()];
  }

  totals(now: number): PacingTotals {
    const totals = { waiting: 0, inFlight: 0, paused: 0 };
    for (const { waiting, starts } of this.#queues.values()) {
      totals.waiting += waiting;
      totals.inFlight += starts.inFlightAt(now).length;
      if (starts.pauseAt(now) !== undefined) totals.paused++;
    }
    return totals;
  }

  /** Forgets all queues, but for the requests that wait. */
  clear(): void {
    for (const [scope, queue] of this.#queues) {
      if (queue.waiting === 0) this.#queues.delete(scope);
      else queue.reset();
    }
  }

  /** Rejects all waiting requests with `reason`, and forgets all queues. */
  close(reason: unknown): void {
    for (const queue of this.#queues.values()) queue.close(reason);
    this.#queues.clear();
  }

  /** Removes the oldest queue that can go. Others move to the end. */
  #makeRoom(now: number): boolean {
    let examined = 0;
    let inCooldown: string | undefined;
    for (const [scope, queue] of this.#queues) {
      this.#queues.delete(scope);
      const isIdle = queue.isIdleAt(now);
      if (isIdle && !queue.starts.isWithinCooldown(now)) return true;
      if (isIdle) inCooldown ??= scope;
      this.#queues.set(scope, queue);
      if (++examined >= Math.min(MAX_EXAMINED, this.#max)) break;
    }
    return inCooldown !== undefined && this.#queues.delete(inCooldown);
  }
}
