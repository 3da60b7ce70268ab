import type { Decision, DelayFrom, OwnDelays } from '../decision/index.ts';
import type { Pace } from './options.ts';
import type { PacingClock } from './pacing-clock.ts';
import type { PageResponse } from './pause.ts';
import type { FleetSlot, PacingQueue, QueuedRequest } from './queue.ts';
import { type Gap, type Permit, PERMIT_TTL_MS } from './schedule.ts';

/** The right of one request to start now, and to be in flight until it ends. An attempt that a library retries needs another one. */
export interface RequestPermit {
  /** Milliseconds that the request waited for it. */
  readonly waitedMs: number;
  /** The pace that the request keeps. */
  readonly pacing?: OwnDelays;
  /** After a response that asks to try again later: epoch ms, the end of the pause of its scope. */
  readonly retryAt?: number | undefined;
  /** Gives the permit back when the request is not sent: the next one may start in its place. */
  release(): void;
  /**
   * The header of the response has come, and its body is not read yet. A 429 or 503 pauses from now on. The
   * permit ends 30 seconds after the last call of this or of {@link bodyRead}.
   */
  responded(response: PageResponse): void;
  /** The caller has begun to read the body, or has read a part of it. */
  bodyRead(): void;
  /**
   * The request has ended, with a response or without one. Frees the permit. A 429 or 503 pauses, unless
   * {@link responded} was called with one, also when `done` was called without a status before.
   */
  done(response?: PageResponse): void;
}

/** The longest gap by latency where there is no `maxDelayMs`: a booking may be reported hours later. */
const MAX_LATENCY_GAP_MS = 300_000;

/** What a permit needs of its pacer. */
export interface PermitContext {
  readonly clock: PacingClock;
  /** Learns what the response to a request says. Returns whether it pauses the origin. */
  learn(permit: PagePermit, response: PageResponse): boolean;
  /** The end of the pause of an origin that is known here, in epoch ms. */
  pausedUntil(origin: string): number | undefined;
}

interface PagePermitOptions {
  readonly decision: Decision;
  readonly pace: Pace;
  readonly gap: Gap;
  readonly queue: PacingQueue;
  readonly notBefore: number;
  readonly isBooking: boolean;
  readonly now: number;
}

/** A request for a page: it waits for its permit, holds it, and ends it. */
export class PagePermit implements RequestPermit, QueuedRequest {
  readonly url: string;
  readonly decision: Decision;
  readonly pace: Pace;
  readonly gap: Gap;
  readonly notBefore: number;
  readonly isBooking: boolean;
  waitedMs = 0;
  retryAt: number | undefined;
  at: number;
  expiresAt: number;
  isReleased = false;
  previousStart: Permit | undefined;
  deadline: number;
  firstAt: number | undefined;
  delayFrom: DelayFrom;
  slot: FleetSlot | undefined;
  readonly #context: PermitContext;
  readonly queue: PacingQueue;
  /** Whether a response asked for a pause, or `done` was called with a status. */
  #hasLearnt = false;
  #hasResponded = false;
  readonly #madeAt: number;

  constructor(context: PermitContext, options: PagePermitOptions) {
    const { decision, pace, gap, queue, notBefore, isBooking, now } = options;
    this.url = decision.url;
    this.decision = decision;
    this.pace = pace;
    this.gap = gap;
    this.notBefore = notBefore;
    this.isBooking = isBooking;
    this.at = this.expiresAt = now;
    this.deadline = now + (isBooking ? pace.maxDelayMs : pace.maxTotalWaitMs);
    this.delayFrom = gap.delayFrom;
    this.#context = context;
    this.#madeAt = pace.latencyFactor === 0 ? 0 : context.clock.ticks();
    this.queue = queue;
  }

  get pacing(): OwnDelays {
    const { defaultDelayMs, minDelayMs } = this.pace;
    return { scope: this.queue.scope, defaultDelayMs, minDelayMs };
  }

  release(): void {
    this.queue.release(this);
  }

  responded(response: PageResponse): void {
    this.#measureLatency();
    if (this.#hasLearnt) return;
    this.queue.expire(this, this.#context.clock.now() + PERMIT_TTL_MS);
    // It may be the response to another request for the URL, so later responses still count.
    this.#hasLearnt = this.#learn(response);
  }

  bodyRead(): void {
    this.expiresAt = this.#context.clock.now() + PERMIT_TTL_MS;
  }

  done(response?: PageResponse): void {
    if (response?.status !== undefined) this.#measureLatency();
    if (response?.status !== undefined && !this.isReleased && !this.#hasLearnt) {
      this.#hasLearnt = true;
      this.#learn(response);
    }
    this.queue.end(this);
  }

  #learn(response: PageResponse): boolean {
    const pauses = this.#context.learn(this, response);
    // A refusal pauses too, with `pauseOnRefusal`, but does not ask to try again.
    if (pauses && response.status !== undefined && this.pace.statuses.includes(response.status))
      this.retryAt = this.#context.pausedUntil(this.decision.origin);
    return pauses;
  }

  /** The time to the header; for a caller that reports the end alone, to that. */
  #measureLatency(): void {
    const { latencyFactor, maxDelayMs } = this.pace;
    if (this.#hasResponded || this.isReleased || latencyFactor === 0) return;
    this.#hasResponded = true;
    const { clock } = this.#context;
    // The clock may have been set forward since.
    const latencyMs = Math.max(
      0,
      Math.min(clock.now() - this.at, clock.ticks() - this.#madeAt - this.waitedMs),
    );
    const longestMs = maxDelayMs === Infinity ? MAX_LATENCY_GAP_MS : maxDelayMs;
    this.queue.schedule.setLatencyGap(Math.min(Math.round(latencyMs * latencyFactor), longestMs));
  }
}

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
  /** The start is booked: send the request at `at`, `waitMs` from now, and call `done` when it has ended. */
  | (ReservationBase & {
      readonly status: 'booked';
      /** Epoch ms. */
      readonly at: number;
      /**
       * The request has ended, with this response, or with an error: 429 and 503 pause the origin. Frees the permit, which
       * else ends 30 seconds after `at`. A status pauses the origin also after a call without one. Evidence and the crawl
       * report have the first call.
       */
      done(response?: PageResponse): void;
      /**
       * The request is not sent, so its time is free again once no later one is booked. In a fleet this client's next
       * request gets it.
       */
      release(): void;
    })
  /** The wait would be too long, or no permit is free. Nothing is booked: reserve again at `retryAt`. */
  | (ReservationBase & {
      readonly status: 'deferred';
      /** Epoch ms. */
      readonly retryAt: number;
    })
  /** The URL may not be fetched, so nothing is booked. */
  | { readonly status: 'refused'; readonly decision: Decision; readonly retryAt?: number };
