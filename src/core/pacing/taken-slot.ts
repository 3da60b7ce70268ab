import type { Decision } from '../decision/index.ts';
import type { Line, LineRequest } from './line.ts';
import type { Pace } from './options.ts';
import { asksForPause, type PageAnswer } from './pause.ts';
import { type Place, PLACE_HELD_MS } from './schedule.ts';

/** A slot whose time has come, for a request that is about to leave. */
export interface RequestPermit {
  /** Milliseconds that the request waited for its slot. */
  readonly waitedMs: number;
  /**
   * Whether the request may leave now. If `true`, it must be sent synchronously. `false` when another request to the
   * origin left meanwhile, or a pause began.
   */
  tryStart(): boolean;
  /**
   * Resolves when the request may leave. Once it has left, further calls resolve at once.
   *
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`), or the reason of an aborted signal.
   */
  start(signal?: AbortSignal): Promise<void>;
  /** Gives the slot back when the request is not made. No effect once the request has left. */
  release(): void;
  /**
   * The header fields of the answer have come, and its body is still read. A 429 or 503 pauses the origin from now on,
   * and the place is free in 30 seconds at the latest. For a guard that sees the end of the body; others call
   * {@link done} alone.
   */
  responded(answer: PageAnswer): void;
  bodyRead(): void;
  /**
   * The request has ended: with an answer, or without one when it failed or was aborted. Frees its place. A 429 or 503
   * pauses the origin, unless {@link responded} has told one. Further calls have no effect.
   */
  done(answer?: PageAnswer): void;
}

/** What a request needs of its pacer. */
export interface Places {
  now(): number;
  /**
   * Takes another place for a request that has lost its place. A promise only when it has to wait.
   *
   * @throws RobotsDeferredError (`ERR_ROBOTS_DEFERRED`), or the reason of an aborted signal.
   */
  askAgain(paced: Paced, signal: AbortSignal | undefined): Place | Promise<Place>;
  /** Learns what the answer to a request that left at `leftAt` says. */
  learn(paced: Paced, answer: PageAnswer, leftAt: number): void;
}

/** A request for a page, and where it waits. */
export interface Paced extends LineRequest {
  readonly line: Line;
  readonly decision: Decision;
  readonly pace: Pace;
}

const NO_ANSWER: PageAnswer = Object.freeze({});

/** A request with a place, and with another if it cannot leave in its first. */
export class PacedRequest implements RequestPermit {
  readonly waitedMs: number;
  readonly #places: Places;
  readonly #paced: Paced;
  #place: Place;
  #isAnswered = false;
  #hasAskedForPause = false;
  #isDone = false;

  constructor(places: Places, paced: Paced, place: Place, waitedMs: number) {
    this.#places = places;
    this.#paced = paced;
    this.#place = place;
    this.waitedMs = waitedMs;
  }

  tryStart(): boolean {
    return this.#place.hasLeft || this.#paced.line.leave(this.#place, this.#places.now());
  }

  async start(signal?: AbortSignal): Promise<void> {
    while (!this.tryStart()) {
      this.release();
      this.#place = await this.#places.askAgain(this.#paced, signal);
    }
  }

  release(): void {
    if (!this.#place.hasLeft) this.#paced.line.free(this.#place);
  }

  bodyRead(): void {
    if (this.#isAnswered && !this.#isDone) this.#place.freeAt = this.#places.now() + PLACE_HELD_MS;
  }

  responded(answer: PageAnswer): void {
    if (!this.#place.hasLeft || this.#isAnswered) return;
    this.#isAnswered = true;
    this.#paced.line.freeAt(this.#place, this.#places.now() + PLACE_HELD_MS);
    this.#learn(answer);
  }

  done(answer: PageAnswer = NO_ANSWER): void {
    // What was told before may have been the answer to somebody else's request for the URL.
    if (!this.#isDone && this.#place.hasLeft && !this.#hasAskedForPause) this.#learn(answer);
    this.#isAnswered = true;
    this.#isDone = true;
    this.#paced.line.free(this.#place);
  }

  #learn(answer: PageAnswer): void {
    this.#hasAskedForPause = asksForPause(answer.status);
    this.#places.learn(this.#paced, answer, this.#place.at);
  }
}
