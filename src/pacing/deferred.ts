import type { Decision } from '../decision/index.ts';
import { RobotsError } from '../base/index.ts';

/**
 * A pacing guard did not send a request, because its slot is further away than `maxDelayMs`. The request is allowed;
 * try again at `retryAt`.
 */
export class RobotsDeferredError extends RobotsError {
  override readonly name = 'RobotsDeferredError';
  readonly code = 'ERR_ROBOTS_DEFERRED';
  /** The decision about the hop that was deferred. */
  readonly decision: Decision;
  /** Epoch ms from which a new try makes sense. No slot is booked for it. */
  readonly retryAt: number;

  constructor(decision: Decision, retryAt: number) {
    super(
      `${decision.url} is deferred: the next slot of ${decision.origin} is at ${new Date(retryAt).toISOString()}, ` +
        'further away than `maxDelayMs`',
    );
    this.decision = decision;
    this.retryAt = retryAt;
  }
}
