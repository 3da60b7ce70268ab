import type { Deferral, PacedRequest } from './origin-queue.ts';

/** A request that waits for its permit. */
export interface Waiter {
  readonly request: PacedRequest;
  /** Settles the promise of the request, with its deferral if it has no permit. */
  readonly resolve: (deferral: Deferral | undefined) => void;
  readonly reject: (reason: unknown) => void;
  /** Stops listening to the signal of the request. */
  unlisten: (() => void) | undefined;
  previous: Waiter | undefined;
  next: Waiter | undefined;
}

/** The requests that wait for one origin, in order. Every step costs the same, however many wait. */
export class WaitingList {
  #first: Waiter | undefined;
  #last: Waiter | undefined;
  #size = 0;
  /** Of them, those that wait to start; the others wait to be booked. */
  #starting = 0;

  get first(): Waiter | undefined {
    return this.#first;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether all of them wait to be booked. */
  get hasBookingsAlone(): boolean {
    return this.#starting === 0;
  }

  append(waiter: Waiter): void {
    waiter.previous = this.#last;
    if (this.#last === undefined) this.#first = waiter;
    else this.#last.next = waiter;
    this.#last = waiter;
    this.#count(waiter, 1);
  }

  prepend(waiter: Waiter): void {
    waiter.next = this.#first;
    if (this.#first === undefined) this.#last = waiter;
    else this.#first.previous = waiter;
    this.#first = waiter;
    this.#count(waiter, 1);
  }

  /** Returns whether it was in the list. */
  remove(waiter: Waiter): boolean {
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

  *[Symbol.iterator](): Generator<Waiter> {
    for (let each = this.#first; each !== undefined;) {
      // It may be removed meanwhile.
      const { next } = each;
      yield each;
      each = next;
    }
  }

  #count({ request }: Waiter, change: 1 | -1): void {
    this.#size += change;
    if (!request.isBooking) this.#starting += change;
  }
}
