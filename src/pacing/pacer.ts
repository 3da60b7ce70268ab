import { type Clock, sleepBy } from '../base/index.ts';
import type { Decision } from '../decision/index.ts';
import { requestRate, type RobotsFile } from '../rules/index.ts';
import { FleetSlots, type ReserveInFleet } from './fleet-slots.ts';
import type { Pace } from './options.ts';
import { type NoTicket, PacedRequest, type TakenSlot, type Ticket } from './paced-request.ts';
import { type Slot, type SlotRequest, Slots, toleratedLateMs, type WaitingSlot } from './slots.ts';

/** What files ask for by `Request-rate`, which few do: those that do not are read once only. */
export class RequestRates {
  private readonly agentsWithout = new WeakMap<RobotsFile, Set<string>>();

  /** The least time between two requests of `agent` at `now`, in milliseconds; 0 when the file names none. */
  delayMsOf(file: RobotsFile, agent: string, now: number): number {
    if (this.agentsWithout.get(file)?.has(agent) === true) return 0;
    if (requestRate(file, agent) !== undefined) return requestRate(file, agent, { atMs: now }) ?? 0;
    const agents = this.agentsWithout.get(file) ?? new Set();
    this.agentsWithout.set(file, agents.add(agent));
    return 0;
  }
}

interface ReservationBase {
  readonly decision: Decision;
  /** The least time between two requests to this origin, and who asks for it. */
  readonly delayMs: number;
  readonly delayFrom: 'crawl-delay' | 'request-rate' | 'min-delay' | 'none';
}

/** What became of a wish to make a request. */
export type Reservation =
  /** The slot is the caller's: make the request at `at`, `waitMs` from now. */
  | (ReservationBase & {
      readonly status: 'booked';
      /** Epoch ms. */
      readonly at: number;
      readonly waitMs: number;
      /**
       * Gives the slot back, unless somebody has booked behind it: then it stays empty. A slot of a fleet goes to the
       * next who asks this client for one.
       */
      release(): void;
    })
  /** The slot is further away than `maxDelayMs`: nothing is booked, reserve again at `retryAt`. */
  | (ReservationBase & {
      readonly status: 'deferred';
      /** Epoch ms. */
      readonly retryAt: number;
      readonly waitMs: number;
    })
  /** The URL may not be fetched: nothing is booked. */
  | { readonly status: 'refused'; readonly decision: Decision; readonly retryAt?: number };

type Settled = Exclude<Reservation, { status: 'refused' }>;

/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What a decision and its asker say of a slot. */
interface Wish {
  readonly decision: Decision;
  readonly delayMs: number;
  readonly delayFrom: ReservationBase['delayFrom'];
  readonly maxWaitMs: number;
}

export interface PacerOptions {
  readonly clock: Clock;
  readonly maxOrigins: number;
  /** Where a fleet shares its slots. Without an answer from there the client goes by its own. */
  readonly reserveInFleet?: ReserveInFleet | undefined;
  /** What the file behind a decision asks for by `Request-rate`. */
  readonly requestRateMs?: (decision: Decision) => number;
}

/** Books slots by what decisions say, and waits for them. */
export class Pacer {
  private readonly clock: Clock;
  private readonly slots: Slots;
  private readonly fleet: FleetSlots | undefined;
  private readonly requestRateMs: PacerOptions['requestRateMs'];
  private readonly waiting = new Set<AbortController>();

  constructor({ clock, maxOrigins, reserveInFleet, requestRateMs }: PacerOptions) {
    this.clock = clock;
    this.requestRateMs = requestRateMs;
    this.slots = new Slots(maxOrigins);
    this.fleet = reserveInFleet === undefined ? undefined : new FleetSlots(reserveInFleet, clock, maxOrigins);
  }

  /**
   * Books a slot for the URL of `decision`, allowed or not: in the caller's own turn, unless a fleet is to be asked.
   * Rejects with the reason of `signal` only.
   */
  book(decision: Decision, pace: Pace, signal: AbortSignal | undefined): Settled | Promise<Settled> {
    const wish = this.wishOf(decision, pace);
    const bookHere = (notBefore?: number): Settled => {
      const request = this.requestOf(wish, notBefore);
      return settled(wish, this.slots.book(decision.origin, request), request.now);
    };
    const booking = this.bookInFleet(wish, signal);
    if (booking === undefined) return bookHere();
    return booking.then((slot) =>
      slot === undefined ? bookHere(this.afterFleet(wish)) : settled(wish, slot, this.clock.now()),
    );
  }

  /**
   * Books a slot and resolves when the request may leave, with the time that took. When the wait is aborted the slot
   * is given back, unless somebody has booked behind it.
   *
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`), or the reason of an aborted signal.
   */
  async wait(decision: Decision, pace: Pace, signal: AbortSignal | undefined): Promise<number> {
    const since = this.clock.now();
    await this.requestFor(decision, pace).leave(signal);
    return this.clock.now() - since;
  }

  /**
   * Books a slot and resolves when it has come, for a request that leaves a little later.
   *
   * @throws as {@link wait}.
   */
  async take(decision: Decision, pace: Pace, signal: AbortSignal | undefined): Promise<TakenSlot> {
    const request = this.requestFor(decision, pace);
    await request.come(signal);
    return request;
  }

  /** The site asked for a pause of `pauseMs`: slots from now on are behind it. */
  hold(origin: string, pauseMs: number): void {
    this.slots.hold(origin, this.clock.now() + pauseMs);
  }

  /** Rejects everybody who waits with `reason` and forgets everything. */
  close(reason: unknown): void {
    for (const wait of this.waiting) wait.abort(reason);
    this.slots.clear();
    this.fleet?.clear();
  }

  /** The longest of what the site asks for and the caller wants, and whose wish that is. */
  private delayOf(decision: Decision, minDelayMs: number): Pick<Wish, 'delayMs' | 'delayFrom'> {
    const crawlDelayMs = decision.crawlDelayMs ?? 0;
    const rateMs = this.requestRateMs?.(decision) ?? 0;
    const delayMs = Math.max(crawlDelayMs, rateMs, minDelayMs);
    if (delayMs === 0) return { delayMs, delayFrom: 'none' };
    if (delayMs === crawlDelayMs) return { delayMs, delayFrom: 'crawl-delay' };
    return { delayMs, delayFrom: delayMs === rateMs ? 'request-rate' : 'min-delay' };
  }

  private requestFor(decision: Decision, pace: Pace): PacedRequest {
    const wish = this.wishOf(decision, pace);
    return new PacedRequest({
      decision,
      maxWaitMs: wish.maxWaitMs,
      now: () => this.clock.now(),
      book: (signal) => this.bookTicket(wish, signal),
      sleepUntil: (at, signal) => this.sleepUntil(at, signal),
    });
  }

  private bookTicket(
    wish: Wish,
    signal: AbortSignal | undefined,
  ): Ticket | NoTicket | Promise<Ticket | NoTicket> {
    const bookHere = (notBefore?: number): Ticket | NoTicket =>
      ticketOf(this.slots.bookWaiting(wish.decision.origin, this.requestOf(wish, notBefore)));
    const booking = this.bookInFleet(wish, signal);
    if (booking === undefined) return bookHere();
    return booking.then((slot) => {
      if (slot === undefined) return bookHere(this.afterFleet(wish));
      return slot.booked ? this.fleetTicket(wish, slot) : { retryAt: slot.at };
    });
  }

  /**
   * A slot of the fleet cannot be moved: others hold those around it. A request that is too late for its slot, or that
   * the site asked to wait for longer, needs another one.
   */
  private fleetTicket(
    { decision, delayMs }: Wish,
    { at, release }: Slot & { readonly booked: true },
  ): Ticket {
    const { origin } = decision;
    return {
      dueAt: (now) => {
        const dueAt = Math.max(at, this.slots.afterLeft(origin, delayMs), this.slots.heldUntil(origin));
        return Math.max(now, dueAt) - at > toleratedLateMs(delayMs) ? undefined : dueAt;
      },
      leave: (now) => this.slots.leave(origin, { now, delayMs }),
      release,
    };
  }

  private wishOf(decision: Decision, { minDelayMs, maxDelayMs }: Pace): Wish {
    return { decision, ...this.delayOf(decision, minDelayMs), maxWaitMs: maxDelayMs };
  }

  private requestOf(wish: Wish, notBefore = -Infinity): SlotRequest {
    const { delayMs, maxWaitMs } = wish;
    return {
      now: this.clock.now(),
      delayMs,
      maxWaitMs,
      notBefore: Math.max(notBefore, afterRobots(wish)),
    };
  }

  /** The earliest slot behind those heard of from the fleet. */
  private afterFleet({ decision, delayMs }: Wish): number {
    return this.fleet?.after(decision.origin, delayMs) ?? -Infinity;
  }

  /**
   * Books with the fleet. `undefined` without a fleet, and without a delay, where there is nothing to agree on; resolves
   * with `undefined` when the fleet cannot be asked.
   */
  private bookInFleet(wish: Wish, signal: AbortSignal | undefined): Promise<Slot | undefined> | undefined {
    const { slots, fleet } = this;
    const { decision, delayMs, maxWaitMs } = wish;
    const { origin } = decision;
    if (fleet === undefined || delayMs === 0) return undefined;
    const notBefore = (): number =>
      Math.max(afterRobots(wish), slots.heldUntil(origin), slots.after(origin, delayMs));
    return this.attend(
      (left) =>
        new Promise((resolve, reject) => {
          left.addEventListener('abort', () => reject(left.reason), { once: true });
          void fleet.book(origin, { delayMs, maxWaitMs, notBefore, signal: left }).then((slot) => {
            if (!left.aborted) resolve(slot);
            else if (slot?.booked === true) slot.release();
          });
        }),
      signal,
    );
  }

  private async sleepUntil(at: number, signal: AbortSignal | undefined): Promise<void> {
    if (at <= this.clock.now()) return;
    await this.attend(async (left) => {
      // Timers may fire early, and are bounded: it is the clock that tells when the time has come.
      for (let leftMs; (leftMs = at - this.clock.now()) > 0;) {
        await sleepBy(this.clock, Math.min(leftMs, MAX_TIMER_MS), left);
      }
    }, signal);
  }

  /** Work that somebody waits for: ended when they leave, or when all is closed. */
  private async attend<Value>(
    work: (left: AbortSignal) => Promise<Value>,
    signal: AbortSignal | undefined,
  ): Promise<Value> {
    signal?.throwIfAborted();
    const wait = new AbortController();
    const abort = (): void => wait.abort(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    this.waiting.add(wait);
    try {
      return await work(wait.signal);
    } finally {
      this.waiting.delete(wait);
      signal?.removeEventListener('abort', abort);
    }
  }
}

/** The request for robots.txt was one, too. It could not wait itself: the delay was still unknown. */
function afterRobots({ decision, delayMs }: Wish): number {
  const { fetchedAt } = decision.robots;
  return fetchedAt === undefined ? -Infinity : fetchedAt + delayMs;
}

function ticketOf(slot: WaitingSlot): Ticket | NoTicket {
  return slot.booked ? slot : { retryAt: slot.at };
}

function settled({ decision, delayMs, delayFrom }: Wish, slot: Slot, now: number): Settled {
  const base = { decision, delayMs, delayFrom, waitMs: Math.max(0, slot.at - now) } as const;
  if (!slot.booked) return { ...base, status: 'deferred', retryAt: slot.at };
  return { ...base, status: 'booked', at: slot.at, release: slot.release };
}
