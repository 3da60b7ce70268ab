import type { Decision, DelayFrom } from '../decision/index.ts';
import type { PacedRequest } from './origin-queue.ts';
import type { PageResponse } from './pause.ts';
import { PERMIT_TTL_MS } from './schedule.ts';

/** The right to send one request. An attempt that a library retries needs another one. */
export interface RequestPermit {
  /** Milliseconds that the request waited for it. */
  readonly waitedMs: number;
  /** Whether the permit has ended by itself: {@link done} was not called in time. */
  readonly hasExpired?: boolean;
  /**
   * Whether the request may start now. If `true`, it must be sent synchronously. `false` when another request to the
   * origin has started meanwhile, or a pause has begun: then call {@link start}.
   */
  tryStart(): boolean;
  /**
   * Resolves when the request may start. Once it has started, further calls resolve at once.
   *
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`), or the reason of an aborted signal.
   */
  start(signal?: AbortSignal): Promise<void>;
  /**
   * For a library that may drop a started request without a word: call it with `false` after the start. The permit then
   * ends after 30 seconds, unless the request is sent. Call it with `true` when the request is sent: the gap to the next
   * one counts from then.
   */
  sent?(isSent: boolean): void;
  /** The HTTP stack has taken the request and will report that it is sent. The next request waits for that. */
  taken?(): void;
  /** Gives the permit back when the request is not sent. No effect once it has started. */
  release(): void;
  /**
   * The header of the response has come, and its body is not read yet. A 429 or 503 pauses the origin from now on. The
   * permit ends 30 seconds after the last call of this or of {@link bodyRead}.
   */
  responded(response: PageResponse): void;
  /** A part of the body was read. */
  bodyRead(): void;
  /**
   * The request has ended, with a response or without one. Frees the permit. A 429 or 503 pauses the origin, unless
   * {@link responded} was called with one, also when `done` was called without a status before.
   */
  done(response?: PageResponse): void;
}

/** What a permit needs of its pacer. */
export interface Permits {
  /** Whether time goes by while a library sends a request. A clock of a test moves in between, by any amount. */
  readonly isRealTime: boolean;
  now(): number;
  /**
   * Acquires another permit for a request that has lost its own. A promise only when it has to wait.
   *
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`), or the reason of an aborted signal.
   */
  acquireAgain(request: PacedRequest, signal: AbortSignal | undefined): void | Promise<void>;
  /** A request has started. */
  started(request: PacedRequest): void;
  /** Learns what the response to a request says. Returns whether it pauses the origin. */
  learn(request: PacedRequest, response: PageResponse): boolean;
}

/** The permit of a request, and another one if it cannot start with its first. */
export class PagePermit implements RequestPermit {
  readonly waitedMs: number;
  readonly #permits: Permits;
  readonly #request: PacedRequest;
  /** Whether a response asked for a pause, or `done` was called with a status. */
  #hasLearnt = false;

  constructor(permits: Permits, request: PacedRequest, waitedMs: number) {
    this.#permits = permits;
    this.#request = request;
    this.waitedMs = waitedMs;
  }

  get hasExpired(): boolean {
    return this.#request.expiresAt <= this.#permits.now();
  }

  tryStart(): boolean {
    const request = this.#request;
    if (request.hasStarted) return true;
    if (!request.queue.tryStart(request, this.#permits.now())) return false;
    this.#permits.started(request);
    return true;
  }

  async start(signal?: AbortSignal): Promise<void> {
    while (!this.tryStart()) {
      this.release();
      await this.#permits.acquireAgain(this.#request, signal);
    }
  }

  sent(isSent: boolean): void {
    const request = this.#request;
    if (!request.hasStarted) return;
    const now = this.#permits.now();
    const { isRealTime } = this.#permits;
    if (isSent) return request.queue.sent(request, isRealTime ? now : request.at);
    if (isRealTime) request.queue.schedule.mayBeDropped(request, now);
    request.queue.expire(request, now + PERMIT_TTL_MS);
  }

  taken(): void {
    const request = this.#request;
    const { isRealTime } = this.#permits;
    if (request.hasStarted) request.queue.schedule.taken(request, this.#permits.now(), isRealTime);
  }

  release(): void {
    if (!this.#request.hasStarted) this.#request.queue.release(this.#request);
  }

  responded(response: PageResponse): void {
    const request = this.#request;
    if (!request.hasStarted || this.#hasLearnt) return;
    request.queue.responded(request, this.#permits.now() + PERMIT_TTL_MS);
    // It may be the response to another request for the URL, so later responses still count.
    this.#hasLearnt = this.#permits.learn(request, response);
  }

  bodyRead(): void {
    this.#request.expiresAt = this.#permits.now() + PERMIT_TTL_MS;
  }

  done(response?: PageResponse): void {
    const request = this.#request;
    if (response?.status !== undefined && request.hasStarted && !this.#hasLearnt) {
      this.#hasLearnt = true;
      this.#permits.learn(request, response);
    }
    request.queue.release(request);
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
