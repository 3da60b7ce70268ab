import { type Clock, MonotonicClock } from '../base/index.ts';
import type { Decision, Pause } from '../decision/index.ts';
import { RobotsDeferredError } from './deferred.ts';
import { type Gap, gapOf } from './gap.ts';
import type { SharedSchedule } from '../store/index.ts';
import { type Deferral, Line } from './line.ts';
import { Lines } from './lines.ts';
import type { Pace } from './options.ts';
import { askedPauseMs, asksForPause, type PageAnswer, type PauseSignal, retryAfterOf } from './pause.ts';
import { type Paced, PacedRequest, type Places, type RequestPermit } from './taken-slot.ts';
import type { DelayFrom, Place } from './schedule.ts';

interface ReservationBase {
  readonly decision: Decision;
  /** The time between two requests to this origin, in milliseconds. */
  readonly delayMs: number;
  /** What decides the time of the request. */
  readonly delayFrom: DelayFrom;
  /** Milliseconds from now until that time. */
  readonly waitMs: number;
}

/** The result of `reserve`. */
export type Reservation =
  /** The slot is booked: make the request at `at`, `waitMs` from now, and call `done` when it has ended. */
  | (ReservationBase & {
      readonly status: 'booked';
      /** Epoch ms. */
      readonly at: number;
      /**
       * Tells the end of the request, and its answer if there is one: 429 and 503 pause the origin. Its place is then
       * free for another; without this call 30 seconds after `at`. Further calls have no effect.
       */
      done(answer?: PageAnswer): void;
      /**
       * Gives the slot back, because the request is not made. A slot of a fleet is kept for this client's next request.
       */
      release(): void;
    })
  /** The wait would be longer than `maxDelayMs`, or no place is free. Nothing is booked: reserve again at `retryAt`. */
  | (ReservationBase & {
      readonly status: 'deferred';
      /** Epoch ms. */
      readonly retryAt: number;
    })
  /** The URL may not be fetched, so no slot is booked. */
  | { readonly status: 'refused'; readonly decision: Decision; readonly retryAt?: number };

type Settled = Exclude<Reservation, { status: 'refused' }>;

export interface PacerOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly maxOrigins: number;
  /** The schedules of a fleet. While they cannot be reached the client uses its own. */
  readonly fleet?: SharedSchedule | undefined;
  /** The delay from the `Request-rate` of the file behind a decision, in milliseconds; `undefined` if none is stated. */
  readonly requestRateMs?: (decision: Decision) => number | undefined;
  /** Called when a request is deferred. */
  readonly onDeferral?: (decision: Decision, deferral: Deferral) => void;
  /** Called when a pause begins, or is lengthened. Times are epoch ms. */
  readonly onPause?: (origin: string, pause: Pause) => void;
}

/** Lets requests leave when they may: one line an origin. */
export class Pacer implements Places {
  readonly #options: PacerOptions;
  readonly #steady: MonotonicClock;
  readonly #lines: Lines;

  constructor(options: PacerOptions) {
    this.#options = options;
    this.#steady = new MonotonicClock(options.clock);
    const { maxOrigins, clock, fleet } = options;
    this.#lines = new Lines(maxOrigins, (origin) => new Line(origin, clock, this.#steady, fleet));
  }

  /**
   * Books a slot for the URL of `decision`, allowed or not. Synchronous, unless the fleet has to be asked. Rejects
   * only with the reason of `signal`.
   */
  book(decision: Decision, pace: Pace, signal: AbortSignal | undefined): Settled | Promise<Settled> {
    const now = this.now();
    const line = this.#lines.of(decision.origin, now);
    if (line === undefined) {
      const gap = this.#gapOf(decision, pace);
      return this.#deferredReservation(decision, gap, noRoom(gap, now));
    }
    const paced = this.#pacedOf(line, decision, pace, now, true);
    const result = line.ask(paced, now, signal);
    return result instanceof Promise
      ? result.then((later) => this.#settled(paced, later))
      : this.#settled(paced, result);
  }

  /**
   * Takes a slot. A promise only when the request has to wait for it.
   *
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`), or the reason of an aborted signal.
   */
  take(
    decision: Decision,
    pace: Pace,
    signal: AbortSignal | undefined,
  ): RequestPermit | Promise<RequestPermit> {
    const now = this.now();
    const line = this.#lines.of(decision.origin, now);
    if (line === undefined) throw this.#deferred(decision, noRoom(this.#gapOf(decision, pace), now), true);
    const paced = this.#pacedOf(line, decision, pace, now, false);
    const place = this.#ask(paced, now, signal, false);
    if (!(place instanceof Promise)) return new PacedRequest(this, paced, place, 0);
    return place.then((later) => new PacedRequest(this, paced, later, this.now() - now));
  }

  now(): number {
    return this.#steady.now();
  }

  askAgain(paced: Paced, signal: AbortSignal | undefined): Place | Promise<Place> {
    return this.#ask(paced, this.now(), signal, true);
  }

  #ask(paced: Paced, now: number, signal: AbortSignal | undefined, isFirst: boolean): Place | Promise<Place> {
    const result = paced.line.ask(paced, now, signal, isFirst);
    return result instanceof Promise
      ? result.then((later) => this.#placeOf(paced, later))
      : this.#placeOf(paced, result);
  }

  learn({ decision, pace }: Paced, answer: PageAnswer, leftAt: number): void {
    const { status } = answer;
    if (!asksForPause(status)) return;
    const askedMs = askedPauseMs(retryAfterOf(answer), this.#options.clock.now());
    this.#pause(decision.origin, { askedMs, leftAt, backOff: pace.backOff, status });
  }

  /**
   * Learns that the site asked for a pause with this `Retry-After`, in an answer to a request that was perhaps not paced.
   *
   * @param reportedAt Epoch ms. The pause counts from then, not from when the pacer was loaded.
   */
  report(origin: string, retryAfter: string, reportedAt: number): void {
    const askedMs = askedPauseMs(retryAfter, reportedAt);
    if (askedMs === undefined) return;
    const leftMs = askedMs - Math.max(0, this.#options.clock.now() - reportedAt);
    if (leftMs <= 0) return;
    this.#pause(origin, { askedMs: leftMs, leftAt: undefined, backOff: false });
  }

  /** The pause of an origin in force, here or in the fleet. Its times are epoch ms. Never rejects. */
  async pauseOf(origin: string): Promise<Pause | undefined> {
    const { fleet } = this.#options;
    const line = fleet === undefined ? this.#lines.peek(origin) : this.#lines.of(origin, this.now());
    if (fleet !== undefined) await line?.askForPause(fleet);
    const pause = line?.schedule.pauseAt(this.now());
    return pause && this.#inEpochMs(pause);
  }

  /** Rejects all waiting requests with `reason`, and forgets all schedules. */
  close(reason: unknown): void {
    this.#lines.close(reason);
  }

  #pacedOf(line: Line, decision: Decision, pace: Pace, now: number, booksAhead: boolean): Paced {
    const gap = this.#gapOf(decision, pace);
    const { fetchedAt } = decision.robots;
    // The request for robots.txt counts as one. It could not be paced itself, because the delay was unknown. A time to
    // come is of a clock that was set back since.
    const robotsAt = fetchedAt === undefined ? -Infinity : this.#steady.monotonicMs(fetchedAt);
    return {
      line,
      decision,
      pace,
      gap,
      concurrency: pace.concurrency,
      notBefore: robotsAt > now ? -Infinity : robotsAt + gap.delayMs,
      deadline: now + Math.min(pace.maxTotalWaitMs ?? Infinity, pace.maxDelayMs),
      booksAhead,
    };
  }

  #gapOf(decision: Decision, pace: Pace): Gap {
    return gapOf(decision, this.#options.requestRateMs?.(decision), pace);
  }

  #placeOf({ decision }: Paced, result: Place | Deferral): Place {
    if ('retryAt' in result) throw this.#deferred(decision, result);
    return result;
  }

  #deferred(decision: Decision, deferral: Deferral, isFull = false): RobotsDeferredError {
    return new RobotsDeferredError(decision, { ...this.#deferralOf(decision, deferral), isFull });
  }

  #pause(origin: string, signal: Omit<PauseSignal, 'now' | 'random'>): void {
    const { random, onPause } = this.#options;
    const now = this.now();
    const backOffMs = signal.backOff === false ? 0 : signal.backOff.firstMs;
    const line = this.#lines.ofPause(origin, now, now + (signal.askedMs ?? backOffMs));
    const pause = line?.learn({ ...signal, now, random });
    if (pause !== undefined) onPause?.(origin, this.#inEpochMs(pause));
  }

  #deferralOf(decision: Decision, { retryAt, delayFrom }: Deferral): Deferral {
    const deferral = { retryAt: Math.ceil(this.#steady.epochMs(retryAt)), delayFrom };
    this.#options.onDeferral?.(decision, deferral);
    return deferral;
  }

  #settled(paced: Paced, result: Place | Deferral): Settled {
    return 'retryAt' in result
      ? this.#deferredReservation(paced.decision, paced.gap, result)
      : this.#bookedReservation(paced, result);
  }

  #deferredReservation(decision: Decision, { delayMs }: Gap, deferral: Deferral): Settled {
    const waitMs = Math.ceil(deferral.retryAt - this.now());
    return { status: 'deferred', decision, delayMs, waitMs, ...this.#deferralOf(decision, deferral) };
  }

  #bookedReservation(paced: Paced, place: Place): Settled {
    const slot = new PacedRequest(this, paced, place, 0);
    return {
      status: 'booked',
      decision: paced.decision,
      delayMs: place.gap.delayMs,
      delayFrom: place.delayFrom,
      at: this.#steady.epochMs(place.at),
      waitMs: Math.max(0, place.at - this.now()),
      done(answer) {
        // The caller makes the request out of our sight.
        place.hasLeft = true;
        slot.done(answer);
      },
      release: () => slot.release(),
    };
  }

  #inEpochMs(pause: Pause): Pause {
    return { ...pause, from: this.#steady.epochMs(pause.from), until: this.#steady.epochMs(pause.until) };
  }
}

/** So soon at the earliest a request that found no room may try again. Without a gap it would try all the time. */
const NO_ROOM_MS = 100;

/** The deferral of a request to an origin that has no line, because those of others need all the room. */
function noRoom({ delayMs }: Gap, now: number): Deferral {
  return { retryAt: now + Math.max(NO_ROOM_MS, delayMs), delayFrom: 'concurrency' };
}
