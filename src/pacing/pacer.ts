import { type Clock, sleepBy } from '../base/index.ts';
import type { Decision } from '../decision/index.ts';
import { retryAfterMs } from '../lifecycle/index.ts';
import { requestRate, type RobotsFile } from '../rules/index.ts';
import { FleetSlots, type ReserveInFleet } from './fleet-slots.ts';
import type { Pace } from './options.ts';
import {
  type NoTicket,
  PacedRequest,
  type PageAnswer,
  type TakenSlot,
  type Ticket,
} from './paced-request.ts';
import { type Slot, type SlotRequest, Slots, toleratedLateMs, type WaitingSlot } from './slots.ts';

/** The delays that files ask for with `Request-rate`. Few files have that line; those without are read only once. */
export class RequestRates {
  private readonly agentsWithout = new WeakMap<RobotsFile, Set<string>>();

  /** The least time between two requests of `agent` at `now`, in milliseconds; 0 when the file has no rate. */
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
  /** The least time between two requests to this origin, in milliseconds, and where it comes from. */
  readonly delayMs: number;
  readonly delayFrom: 'crawl-delay' | 'request-rate' | 'min-delay' | 'none';
}

/** The result of `reserve`. */
export type Reservation =
  /** The slot is booked: make the request at `at`, `waitMs` from now. */
  | (ReservationBase & {
      readonly status: 'booked';
      /** Epoch ms. */
      readonly at: number;
      readonly waitMs: number;
      /**
       * Gives the slot back. If another slot was booked behind it, it stays empty instead. A slot of a fleet is kept
       * for this client's next request.
       */
      release(): void;
    })
  /** The slot is further away than `maxDelayMs`, so none is booked. Reserve again at `retryAt`. */
  | (ReservationBase & {
      readonly status: 'deferred';
      /** Epoch ms. */
      readonly retryAt: number;
      readonly waitMs: number;
    })
  /** The URL may not be fetched, so no slot is booked. */
  | { readonly status: 'refused'; readonly decision: Decision; readonly retryAt?: number };

type Settled = Exclude<Reservation, { status: 'refused' }>;

/** `setTimeout` fires at once for longer delays. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The longest pause that `Retry-After` may ask for: a day. */
const MAX_PAUSE_MS = 86_400_000;

/** The decision and the pace of a slot to book. */
interface PacingRequest {
  readonly decision: Decision;
  readonly delayMs: number;
  readonly delayFrom: ReservationBase['delayFrom'];
  readonly maxWaitMs: number;
}

export interface PacerOptions {
  readonly clock: Clock;
  readonly maxOrigins: number;
  /** Books in the timetable of a fleet. While that cannot be reached the client uses its own. */
  readonly reserveInFleet?: ReserveInFleet | undefined;
  /** The delay from the `Request-rate` of the file behind a decision, in milliseconds. */
  readonly requestRateMs?: (decision: Decision) => number;
  /** Called when no slot is booked, because the next one, at `retryAt`, is further away than the caller would wait. */
  readonly onDeferral?: (decision: Decision, retryAt: number) => void;
}

/** Books slots for decisions, and waits for them. */
export class Pacer {
  private readonly clock: Clock;
  private readonly slots: Slots;
  private readonly fleet: FleetSlots | undefined;
  private readonly requestRateMs: PacerOptions['requestRateMs'];
  private readonly onDeferral: PacerOptions['onDeferral'];
  private readonly waiting = new Set<AbortController>();

  constructor({ clock, maxOrigins, reserveInFleet, requestRateMs, onDeferral }: PacerOptions) {
    this.clock = clock;
    this.requestRateMs = requestRateMs;
    this.onDeferral = onDeferral;
    this.slots = new Slots(maxOrigins);
    this.fleet = reserveInFleet === undefined ? undefined : new FleetSlots(reserveInFleet, clock, maxOrigins);
  }

  /**
   * Books a slot for the URL of `decision`, allowed or not. Synchronous, unless the fleet has to be asked. Rejects
   * only with the reason of `signal`.
   */
  book(decision: Decision, pace: Pace, signal: AbortSignal | undefined): Settled | Promise<Settled> {
    const wanted = this.pacingRequestOf(decision, pace);
    const bookHere = (notBefore?: number): Settled => {
      const request = this.requestOf(wanted, notBefore);
      return this.settled(wanted, this.slots.book(decision.origin, request), request.now);
    };
    const booking = this.bookInFleet(wanted, signal);
    if (booking === undefined) return bookHere();
    return booking.then((slot) =>
      slot === undefined ? bookHere(this.afterFleet(wanted)) : this.settled(wanted, slot, this.clock.now()),
    );
  }

  /**
   * Books a slot and waits until the request may leave. Resolves with the milliseconds waited. When the wait is
   * aborted the slot is given back, unless another was booked behind it.
   *
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`), or the reason of an aborted signal.
   */
  async wait(decision: Decision, pace: Pace, signal: AbortSignal | undefined): Promise<number> {
    const since = this.clock.now();
    await this.requestFor(decision, pace).leave(signal);
    return this.clock.now() - since;
  }

  /**
   * Books a slot and resolves when its time has come, for a request that leaves slightly later.
   *
   * @throws as {@link wait}.
   */
  async take(decision: Decision, pace: Pace, signal: AbortSignal | undefined): Promise<TakenSlot> {
    const request = this.requestFor(decision, pace);
    await request.waitForSlot(signal);
    return request;
  }

  /** Records that the site asked for a pause of `pauseMs`. Later slots are booked after it. */
  hold(origin: string, pauseMs: number): void {
    this.slots.hold(origin, this.clock.now() + pauseMs);
  }

  /** RFC 6585 §4 and RFC 9110 §15.6.4: 429 and 503 may carry the time to wait before a new request. */
  private answered(origin: string, { status, headers }: PageAnswer): void {
    if ((status !== 429 && status !== 503) || headers === undefined) return;
    const value =
      typeof headers.get === 'function' ? headers.get('retry-after') : Reflect.get(headers, 'retry-after');
    const pauseMs = retryAfterMs(String(value), this.clock.now(), { minMs: 0, maxMs: MAX_PAUSE_MS });
    if (pauseMs !== undefined) this.hold(origin, pauseMs);
  }

  /** Rejects all waiting requests with `reason`, and forgets all slots. */
  close(reason: unknown): void {
    for (const wait of this.waiting) wait.abort(reason);
    this.slots.clear();
    this.fleet?.clear();
  }

  /** The longest of the site's delays and the caller's, and where it comes from. */
  private delayOf(decision: Decision, minDelayMs: number): Pick<PacingRequest, 'delayMs' | 'delayFrom'> {
    const crawlDelayMs = decision.crawlDelayMs ?? 0;
    const rateMs = this.requestRateMs?.(decision) ?? 0;
    const delayMs = Math.max(crawlDelayMs, rateMs, minDelayMs);
    if (delayMs === 0) return { delayMs, delayFrom: 'none' };
    if (delayMs === crawlDelayMs) return { delayMs, delayFrom: 'crawl-delay' };
    return { delayMs, delayFrom: delayMs === rateMs ? 'request-rate' : 'min-delay' };
  }

  private requestFor(decision: Decision, pace: Pace): PacedRequest {
    const wanted = this.pacingRequestOf(decision, pace);
    return new PacedRequest({
      decision,
      maxWaitMs: wanted.maxWaitMs,
      now: () => this.clock.now(),
      book: (signal) => this.bookTicket(wanted, signal),
      sleepUntil: (at, signal) => this.sleepUntil(at, signal),
      onAnswer: (answer) => this.answered(decision.origin, answer),
      onDeferral: (retryAt) => this.onDeferral?.(decision, retryAt),
    });
  }

  private settled({ decision, delayMs, delayFrom }: PacingRequest, slot: Slot, now: number): Settled {
    const base = { decision, delayMs, delayFrom, waitMs: Math.max(0, slot.at - now) } as const;
    if (slot.booked) return { ...base, status: 'booked', at: slot.at, release: slot.release };
    this.onDeferral?.(decision, slot.at);
    return { ...base, status: 'deferred', retryAt: slot.at };
  }

  private bookTicket(
    wanted: PacingRequest,
    signal: AbortSignal | undefined,
  ): Ticket | NoTicket | Promise<Ticket | NoTicket> {
    const bookHere = (notBefore?: number): Ticket | NoTicket =>
      ticketOf(this.slots.bookWaiting(wanted.decision.origin, this.requestOf(wanted, notBefore)));
    const booking = this.bookInFleet(wanted, signal);
    if (booking === undefined) return bookHere();
    return booking.then((slot) => {
      if (slot === undefined) return bookHere(this.afterFleet(wanted));
      return slot.booked ? this.fleetTicket(wanted, slot) : { retryAt: slot.at };
    });
  }

  /**
   * A slot of the fleet cannot be moved, because other processes hold the slots around it. A request that misses its
   * slot, or that the site asked to wait longer, needs a new one.
   */
  private fleetTicket(
    { decision, delayMs }: PacingRequest,
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

  private pacingRequestOf(decision: Decision, { minDelayMs, maxDelayMs }: Pace): PacingRequest {
    return { decision, ...this.delayOf(decision, minDelayMs), maxWaitMs: maxDelayMs };
  }

  private requestOf(wanted: PacingRequest, notBefore = -Infinity): SlotRequest {
    const { delayMs, maxWaitMs } = wanted;
    return {
      now: this.clock.now(),
      delayMs,
      maxWaitMs,
      notBefore: Math.max(notBefore, afterRobots(wanted)),
    };
  }

  /** The earliest slot after those known from the fleet. */
  private afterFleet({ decision, delayMs }: PacingRequest): number {
    return this.fleet?.after(decision.origin, delayMs) ?? -Infinity;
  }

  /**
   * Books with the fleet. `undefined` without a fleet, or without a delay, which needs no agreement. Resolves with
   * `undefined` when the fleet cannot be reached.
   */
  private bookInFleet(
    wanted: PacingRequest,
    signal: AbortSignal | undefined,
  ): Promise<Slot | undefined> | undefined {
    const { slots, fleet } = this;
    const { decision, delayMs, maxWaitMs } = wanted;
    const { origin } = decision;
    if (fleet === undefined || delayMs === 0) return undefined;
    const notBefore = (): number =>
      Math.max(afterRobots(wanted), slots.heldUntil(origin), slots.after(origin, delayMs));
    return this.withCancellation(
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
    await this.withCancellation(async (left) => {
      // Timers may fire early and have a maximum, so the clock decides when the time has come.
      for (let leftMs; (leftMs = at - this.clock.now()) > 0;) {
        await sleepBy(this.clock, Math.min(leftMs, MAX_TIMER_MS), left);
      }
    }, signal);
  }

  /** Runs work that a caller waits for. It is aborted when the caller leaves, or when the pacer is closed. */
  private async withCancellation<Value>(
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

/** The request for robots.txt counts as one. It could not be paced itself, because the delay was unknown. */
function afterRobots({ decision, delayMs }: PacingRequest): number {
  const { fetchedAt } = decision.robots;
  return fetchedAt === undefined ? -Infinity : fetchedAt + delayMs;
}

function ticketOf(slot: WaitingSlot): Ticket | NoTicket {
  return slot.booked ? slot : { retryAt: slot.at };
}
