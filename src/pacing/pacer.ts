import { type Clock, sleepBy } from '../base/index.ts';
import type { Decision } from '../decision/index.ts';
import { requestRate, type RobotsFile } from '../rules/index.ts';
import { RobotsDeferredError } from './deferred.ts';
import { FleetSlots, type ReserveInFleet } from './fleet-slots.ts';
import type { Pace } from './options.ts';
import { type Slot, Slots } from './slots.ts';

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
  book(
    decision: Decision,
    { minDelayMs, maxDelayMs }: Pace,
    signal: AbortSignal | undefined,
  ): Settled | Promise<Settled> {
    const wish = { decision, ...this.delayOf(decision, minDelayMs), maxWaitMs: maxDelayMs };
    // Without a delay there is nothing to agree on.
    if (this.fleet === undefined || wish.delayMs === 0) return this.bookHere(wish);
    return this.bookInFleet(wish, this.fleet, signal);
  }

  /**
   * Books a slot and resolves when it has come, with the time that took. When the wait is aborted the slot is given
   * back, unless somebody has booked behind it.
   *
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`), or the reason of an aborted signal.
   */
  async wait(decision: Decision, pace: Pace, signal: AbortSignal | undefined): Promise<number> {
    const since = this.clock.now();
    for (;;) {
      signal?.throwIfAborted();
      const booking = this.book(decision, pace, signal);
      const reservation = booking instanceof Promise ? await booking : booking;
      if (reservation.status === 'deferred') throw new RobotsDeferredError(decision, reservation.retryAt);
      try {
        await this.sleepUntil(reservation.at, signal);
      } catch (error) {
        reservation.release();
        throw error;
      }
      const now = this.clock.now();
      // A pause that the site asked for meanwhile makes the slot void.
      if (this.slots.heldUntil(decision.origin) <= now) return now - since;
    }
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

  private bookHere(wish: Wish, notBefore = -Infinity): Settled {
    const { decision, delayMs, maxWaitMs } = wish;
    const now = this.clock.now();
    const slot = this.slots.book(decision.origin, {
      now,
      delayMs,
      maxWaitMs,
      notBefore: Math.max(notBefore, afterRobots(wish)),
    });
    return settled(wish, slot, now);
  }

  private bookInFleet(wish: Wish, fleet: FleetSlots, signal: AbortSignal | undefined): Promise<Settled> {
    const { slots } = this;
    const { decision, delayMs, maxWaitMs } = wish;
    const { origin } = decision;
    const notBefore = (): number =>
      Math.max(afterRobots(wish), slots.heldUntil(origin), slots.after(origin, delayMs));
    return this.attend(
      (left) =>
        new Promise((resolve, reject) => {
          left.addEventListener('abort', () => reject(left.reason), { once: true });
          void fleet.book(origin, { delayMs, maxWaitMs, notBefore, signal: left }).then((slot) => {
            if (!left.aborted) {
              resolve(
                slot === undefined
                  ? this.bookHere(wish, fleet.after(origin, delayMs))
                  : settled(wish, slot, this.clock.now()),
              );
            } else if (slot?.booked === true) slot.release();
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

function settled({ decision, delayMs, delayFrom }: Wish, slot: Slot, now: number): Settled {
  const base = { decision, delayMs, delayFrom, waitMs: Math.max(0, slot.at - now) } as const;
  if (!slot.booked) return { ...base, status: 'deferred', retryAt: slot.at };
  return { ...base, status: 'booked', at: slot.at, release: slot.release };
}
