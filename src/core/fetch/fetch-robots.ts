import { DEFAULT_DEADLINE_MS, DEFAULT_MAX_BODY_BYTES, LightAbortController } from '../base/index.ts';
import type { Outcome } from '../lifecycle/index.ts';
import { Attempt } from './attempt.ts';
import type { FetchRobotsOptions } from './options.ts';

/**
 * Makes one attempt to fetch `<origin>/robots.txt`. All network trouble is an outcome. The promise rejects only with
 * the reason of an aborted `signal`, and it does so even if a transport ignores the signal.
 */
export function fetchRobots(options: FetchRobotsOptions): Promise<Outcome> {
  const { signal, deadlineMs = DEFAULT_DEADLINE_MS, maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const controller = new LightAbortController();
    const attempt = new Attempt(options, controller, maxBodyBytes);
    const deadline = setTimeout(() => {
      settle();
      resolve(attempt.outcomeAtDeadline());
      controller.abort();
    }, deadlineMs);
    const abandon = (): void => {
      settle();
      reject(signal?.reason);
      controller.abort();
    };
    const settle = (): void => {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', abandon);
    };
    signal?.addEventListener('abort', abandon, { once: true });
    void attempt.run().then((outcome) => {
      settle();
      resolve(outcome);
    });
  });
}
