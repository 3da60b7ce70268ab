import { type Clock, systemClock } from '../clock.ts';
import type { Decision } from '../decision.ts';
import { RobotsDeferredError } from './deferred.ts';
import type { Pace } from './pacing-options.ts';
import { Slots } from './slots.ts';

interface ReservationBase {
  readonly decision: Decision;
  /** The least time between two requests to this origin, and who asks for it. */
  readonly delayMs: number;
  readonly delayFrom: 'crawl-delay' | 'min-delay' | 'none';
}

/** What became of a wish to make a request. */
export type Reservation =
  /** The slot is the caller's: make the request at `at`, `waitMs` from now. */
  | (ReservationBase & {
      readonly status: 'booked';
      /** Epoch ms. */
      readonly at: number;
      readonly waitMs: number;
      /** Gives the slot back, unless somebody has booked behind it: then it stays empty. */
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

/** Books slots by what decisions say, and waits for them. */
export class Pacer {
  private readonly clock: Clock;
  private readonly slots: Slots;
  private readonly waiting = new Set<AbortController>();

  constructor(clock: Clock, maxOrigins: number) {
    this.clock = clock;
    this.slots = new Slots(maxOrigins);
  }

  /** Books a slot for the URL of `decision`, allowed or not, in the caller's own turn. */
  book(decision: Decision, { minDelayMs, maxDelayMs }: Pace): Settled {
    const now = this.clock.now();
    const asked = decision.crawlDelayMs ?? 0;
    const delayMs = Math.max(asked, minDelayMs);
    const delayFrom = delayMs === 0 ? 'none' : asked >= minDelayMs ? 'crawl-delay' : 'min-delay';
    const { fetchedAt } = decision.robots;
    const slot = this.slots.book(decision.origin, {
      now,
      delayMs,
      maxWaitMs: maxDelayMs,
      // The request for robots.txt was one, too. It could not wait itself: the delay was still unknown.
      ...(fetchedAt === undefined ? {} : { notBefore: fetchedAt + delayMs }),
    });
    const base = { decision, delayMs, delayFrom, waitMs: slot.at - now } as const;
    if (!slot.booked) return { ...base, status: 'deferred', retryAt: slot.at };
    return { ...base, status: 'booked', at: slot.at, release: slot.release };
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
      const reservation = this.book(decision, pace);
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
  }

  private async sleepUntil(at: number, signal: AbortSignal | undefined): Promise<void> {
    if (at <= this.clock.now()) return;
    const wait = new AbortController();
    const abort = (): void => wait.abort(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    this.waiting.add(wait);
    try {
      // Timers may fire early, and are bounded: it is the clock that tells when the time has come.
      for (let leftMs; (leftMs = at - this.clock.now()) > 0;) {
        await this.sleep(Math.min(leftMs, MAX_TIMER_MS), wait.signal);
      }
    } finally {
      this.waiting.delete(wait);
      signal?.removeEventListener('abort', abort);
    }
  }

  private sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.clock.sleep === undefined ? systemClock.sleep(ms, signal) : this.clock.sleep(ms, signal);
  }
}
