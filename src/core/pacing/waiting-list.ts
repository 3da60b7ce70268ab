import type { Deferral } from './schedule.ts';

/** The properties of a request that the list needs. */
interface Waiting {
  readonly isBooking: boolean;
  /** The order in which requests came. */
  readonly turn: number;
}

/** A request that waits for its permit. */
export interface Waiter<Request extends Waiting> {
  readonly request: Request;
  /** Settles the promise of the request, with its deferral if it has no permit. */
  readonly resolve: (deferral: Deferral | undefined) => void;
  readonly reject: (reason: unknown) => void;
  /** Stops listening to the signal of the request. */
  unlisten: (() => void) | undefined;
  previous: Waiter<Request> | undefined;
  next: Waiter<Request> | undefined;
}

/** The requests that wait for one origin, in order. Every step takes constant time. */
export class WaitingList<Request extends Waiting> {
  #first: Waiter<Request> | undefined;
  #last: Waiter<Request> | undefined;
  #size = 0;
  /** Requests that wait to start; all others wait to be booked. */
  #starting = 0;

  get first(): Waiter<Request> | undefined {
    return this.#first;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether all requests wait to be booked. */
  get hasOnlyBookings(): boolean {
    return this.#starting === 0;
  }

  append(waiter: Waiter<Request>): void {
    waiter.previous = this.#last;
    if (this.#last === undefined) this.#first = waiter;
    else this.#last.next = waiter;
    this.#last = waiter;
    this.#count(waiter, 1);
  }

  /** Puts back a request that has lost its permit, before all later ones. */
  insert(waiter: Waiter<Request>): void {
    let next = this.#first;
    while (next !== undefined && next.request.turn < waiter.request.turn) next = next.next;
    if (next === undefined) return this.append(waiter);
    const { previous } = next;
    waiter.next = next;
    waiter.previous = previous;
    next.previous = waiter;
    if (previous === undefined) this.#first = waiter;
    else previous.next = waiter;
    this.#count(waiter, 1);
  }

  /** Returns whether it was in the list. */
  remove(waiter: Waiter<Request>): boolean {
    const { previous, next } = waiter;
    if (previous === undefined && this.#first !== waiter) return false;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    waiter.previous = waiter.next = undefined;
    this.#count(waiter, -1);
    return true;
  }

  *[Symbol.iterator](): Generator<Waiter<Request>> {
    for (let each = this.#first; each !== undefined;) {
      // It may be removed meanwhile.
      const { next } = each;
      yield each;
      each = next;
    }
  }

  #count({ request }: Waiter<Request>, change: 1 | -1): void {
    this.#size += change;
    if (!request.isBooking) this.#starting += change;
  }
}
