import type { Decision, DelayFrom } from '../decision/index.ts';
import type { PageResponse } from './page-response.ts';

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
