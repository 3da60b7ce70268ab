import { randomUUID } from 'node:crypto';
import type { Reservation } from '../../core/pacing/index.ts';

export type Booking = Extract<Reservation, { status: 'booked' }>;

export const MAX_BOOKINGS = 10_000;
/** A response may come long after the permit of its request has ended by itself. */
const KEPT_MS = 600_000;

/** The bookings whose end is awaited, the oldest first. */
export class Bookings {
  readonly #open = new Map<string, Booking>();

  /** Returns the id of the booking; `undefined` when too many are open. */
  add(booking: Booking, now: number): string | undefined {
    for (const [id, { at }] of this.#open) {
      if (at + KEPT_MS > now) break;
      this.#open.delete(id);
    }
    if (this.#open.size >= MAX_BOOKINGS) return undefined;
    const id = randomUUID();
    this.#open.set(id, booking);
    return id;
  }

  take(id: string): Booking | undefined {
    const booking = this.#open.get(id);
    this.#open.delete(id);
    return booking;
  }
}
