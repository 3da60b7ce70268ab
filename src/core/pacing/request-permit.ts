import type { OwnDelays, Decision, DelayFrom } from '../decision/index.ts';
import type { PacingClock } from './pacing-clock.ts';
import type { PageResponse } from './pause-length.ts';
import { type Permit, PERMIT_TTL_MS } from './starts.ts';
import type { PacingQueue } from './queue.ts';

/** The right of one request to start now, and to be in flight until it ends. An attempt that a library retries needs another one. */
export interface RequestPermit {
  /** Milliseconds that the request waited for it. */
  readonly waitedMs: number;
  /** The pace that the request keeps. */
  readonly pacing?: OwnDelays;
  /** After a response that asks to try again later: epoch ms, the end of the pause of its scope. */
  readonly retryAt?: number | undefined;
  /**
   * The request is handed to its library now, if not at once: the gap to the next one counts from here. Of a library that
   * may send it later, the last call counts.
   */
  sent(): void;
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

/** The longest gap that responses may lead to, where there is no `maxDelayMs`: a booking may be reported hours later. */
const MAX_GAP_MS = 300_000;

/** What a response was to the pace of its site. */
export interface Learnt {
  /** Whether it pauses the scope. */
  readonly pauses: boolean;
  /** Epoch ms: the end of the pause, where the site asks to try again. */
  readonly retryAt?: number | undefined;
}

/** The permit of a request, for its guard or for the caller. */
export class HeldPermit implements RequestPermit {
  readonly #permit: Permit;
  readonly #queue: PacingQueue;
  readonly #clock: PacingClock;
  readonly #learn: (permit: Permit, queue: PacingQueue, response: PageResponse) => Learnt;
  readonly waitedMs: number;
  retryAt: number | undefined = undefined;
  /** Whether a response asked for a pause, or `done` was called with a status. */
  #hasLearnt = false;
  #hasResponded = false;
  /** For lengths of time, whatever the clock is set to. */
  readonly #grantedAt: number;

  constructor(
    permit: Permit,
    queue: PacingQueue,
    clock: PacingClock,
    learn: (permit: Permit, queue: PacingQueue, response: PageResponse) => Learnt,
    waitedMs: number,
  ) {
    this.#permit = permit;
    this.#queue = queue;
    this.#clock = clock;
    this.#learn = learn;
    this.waitedMs = waitedMs;
    this.#grantedAt = permit.pace.latencyFactor === 0 ? 0 : clock.ticks();
  }

  get pacing(): OwnDelays {
    const { defaultDelayMs, minDelayMs } = this.#permit.pace;
    return { scope: this.#queue.scope, defaultDelayMs, minDelayMs };
  }

  sent(): void {
    this.#queue.sent(this.#permit);
  }

  release(): void {
    this.#queue.release(this.#permit);
  }

  responded(response: PageResponse): void {
    this.#queue.warmedUp(this.#permit);
    this.#measureLatency();
    if (this.#hasLearnt) return;
    this.#queue.expire(this.#permit, this.#clock.now() + PERMIT_TTL_MS);
    // It may be the response to another request for the URL, so later responses still count.
    this.#hasLearnt = this.#learnFrom(response);
  }

  bodyRead(): void {
    this.#permit.expiresAt = this.#clock.now() + PERMIT_TTL_MS;
  }

  done(response?: PageResponse): void {
    if (response?.status !== undefined) this.#measureLatency();
    if (response?.status !== undefined && !this.#permit.isReleased && !this.#hasLearnt) {
      this.#hasLearnt = true;
      this.#learnFrom(response);
    }
    this.#queue.end(this.#permit);
  }

  #learnFrom(response: PageResponse): boolean {
    const { pauses, retryAt } = this.#learn(this.#permit, this.#queue, response);
    this.retryAt = retryAt ?? this.retryAt;
    return pauses;
  }

  /** The time to the header; for a caller that reports the end alone, to that. */
  #measureLatency(): void {
    const { at, isReleased, pace } = this.#permit;
    const { latencyFactor, maxDelayMs } = pace;
    if (this.#hasResponded || isReleased || latencyFactor === 0) return;
    this.#hasResponded = true;
    // The clock may have been set forward since.
    const latencyMs = Math.max(0, Math.min(this.#clock.now() - at, this.#clock.ticks() - this.#grantedAt));
    this.#queue.starts.setLatencyGap(
      Math.min(Math.round(latencyMs * latencyFactor), longestGapMs(maxDelayMs)),
    );
  }
}

/** The longest gap that responses may lead to. */
export function longestGapMs(maxDelayMs: number): number {
  return maxDelayMs === Infinity ? MAX_GAP_MS : maxDelayMs;
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

/** The result of `reserve`, of an allowed URL. */
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
    });
