import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/index.ts';
import { type Slot, toleratedLateMs } from './slots.ts';

/**
 * Books the next slot of an origin in the timetable of the fleet: `delayMs` after the last one that any process
 * booked. Returns the milliseconds until the slot; `undefined` when the timetable cannot be reached. Never rejects.
 */
export type ReserveInFleet = (origin: string, delayMs: number) => Promise<number | undefined>;

export interface FleetSlotRequest {
  readonly delayMs: number;
  /** The earliest time of the slot, in epoch ms. Called when the request's turn has come. */
  readonly notBefore: () => number;
  /** A slot further away than this is not booked. */
  readonly maxWaitMs: number;
  /** Aborts when nobody needs the slot any more. */
  readonly signal?: AbortSignal | undefined;
}

/** A slot that this process booked and has no use for yet. */
interface SpareSlot {
  readonly at: number;
  readonly delayMs: number;
}

interface Timetable {
  /** In order of time. */
  spare: SpareSlot[];
  last: SpareSlot | undefined;
}

/** The most spare slots per origin. Further ones stay empty. */
const MAX_SPARE_SLOTS = 1_000;

/**
 * Slots of origins that a whole fleet shares. A slot booked there cannot be given back, so an unused one is kept for
 * the next request of this process. Otherwise every request that is deferred would move the next slot further away.
 */
export class FleetSlots {
  private readonly reserve: ReserveInFleet;
  private readonly clock: Clock;
  private readonly origins: LRUCache<string, Timetable>;
  /** One request at a time books for an origin: its result may make the other bookings unnecessary. */
  private readonly turns = new Map<string, Promise<unknown>>();

  /** Keeps at most `maxOrigins` origins, and forgets the least recently used ones. */
  constructor(reserve: ReserveInFleet, clock: Clock, maxOrigins: number) {
    this.reserve = reserve;
    this.clock = clock;
    // Not `max`, for which the library fills arrays of that length at once.
    this.origins = new LRUCache({ maxSize: maxOrigins, sizeCalculation: () => 1 });
  }

  /** Books a slot. `undefined` when the fleet cannot be reached, or nobody needs the slot any more. Never rejects. */
  book(origin: string, request: FleetSlotRequest): Promise<Slot | undefined> {
    const before = this.turns.get(origin) ?? Promise.resolve();
    const turn = before
      .then(() => this.bookInTurn(origin, request))
      .finally(() => {
        if (this.turns.get(origin) === turn) this.turns.delete(origin);
      });
    this.turns.set(origin, turn);
    return turn;
  }

  /** The earliest time after all slots known from the fleet. Used when the fleet cannot be reached. */
  after(origin: string, delayMs: number): number {
    const last = this.origins.peek(origin)?.last;
    return last === undefined ? -Infinity : last.at + Math.max(last.delayMs, delayMs);
  }

  clear(): void {
    this.origins.clear();
  }

  private async bookInTurn(origin: string, request: FleetSlotRequest): Promise<Slot | undefined> {
    if (request.signal?.aborted === true) return undefined;
    const timetable = this.timetableOf(origin);
    const slot = this.takeSpare(timetable, request) ?? (await this.bookNew(origin, timetable, request));
    if (slot === undefined) return undefined;
    const { at } = slot;
    if (at - this.clock.now() > request.maxWaitMs) {
      this.keep(timetable, slot);
      return { booked: false, at };
    }
    let isGivenBack = false;
    const release = (): void => {
      if (!isGivenBack) this.keep(timetable, slot);
      isGivenBack = true;
    };
    return { booked: true, at, release };
  }

  private async bookNew(
    origin: string,
    timetable: Timetable,
    { delayMs, notBefore }: FleetSlotRequest,
  ): Promise<SpareSlot | undefined> {
    const book = async (behindMs: number): Promise<number | undefined> => {
      const waitMs = await this.reserve(origin, behindMs);
      return waitMs === undefined ? undefined : this.clock.now() + waitMs;
    };
    let at = await book(delayMs);
    // A slot that is too early stays empty. The next one is booked as far behind it as needed, so a pause that a site
    // asked of us holds for the fleet.
    const tooEarlyMs = at === undefined ? 0 : notBefore() - at;
    if (tooEarlyMs > 0) at = await book(Math.max(delayMs, Math.ceil(tooEarlyMs)));
    if (at === undefined) return undefined;
    timetable.last = { at: Math.max(at, notBefore()), delayMs };
    return timetable.last;
  }

  private takeSpare(timetable: Timetable, { delayMs, notBefore }: FleetSlotRequest): SpareSlot | undefined {
    const now = this.clock.now();
    timetable.spare = timetable.spare.filter((slot) => slot.at >= now - toleratedLateMs(slot.delayMs));
    const earliest = notBefore();
    // A slot booked with a shorter delay may be too close behind the one before it.
    const index = timetable.spare.findIndex((slot) => slot.at >= earliest && slot.delayMs >= delayMs);
    const [slot] = index < 0 ? [] : timetable.spare.splice(index, 1);
    return slot && { ...slot, at: Math.max(slot.at, now) };
  }

  private keep(timetable: Timetable, slot: SpareSlot): void {
    const slots = [...timetable.spare, slot].sort((one, other) => one.at - other.at);
    timetable.spare = slots.slice(0, MAX_SPARE_SLOTS);
  }

  private timetableOf(origin: string): Timetable {
    let timetable = this.origins.get(origin);
    if (timetable === undefined) {
      timetable = { spare: [], last: undefined };
      this.origins.set(origin, timetable);
    }
    return timetable;
  }
}
