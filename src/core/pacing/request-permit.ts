import type { OwnDelays } from '../decision/index.ts';
import type { PacingClock } from './pacing-clock.ts';
import type { PageResponse } from './page-response.ts';
import type { Permit } from './permit.ts';
import type { PacingQueue } from './queue.ts';
import { PERMIT_TTL_MS } from './starts.ts';

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
