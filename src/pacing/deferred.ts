import { type Decision, RefusedRequestError, type RequestWay } from '../decision/index.ts';

/**
 * A pacing guard did not send a request, because its slot is further away than `maxDelayMs`. The request is allowed;
 * try again at `retryAt`.
 */
export class RobotsDeferredError extends RefusedRequestError {
  override readonly name = 'RobotsDeferredError';
  readonly code = 'ERR_ROBOTS_DEFERRED';
  /** Epoch ms from which a new try makes sense. No slot is booked for it. */
  readonly retryAt: number;

  constructor(decision: Decision, retryAt: number, way?: RequestWay) {
    super(
      `${decision.url} is deferred: the next slot of ${decision.origin} is at ${new Date(retryAt).toISOString()}, ` +
        'further away than `maxDelayMs`',
      decision,
      way,
    );
    this.retryAt = retryAt;
  }
}
