import { isRobotsError } from '../../../core/base/index.ts';
import { type Purpose, QUESTIONS } from '../../../core/decision/index.ts';
import { type TargetResult, type Decider, type Session, tooLongError } from '../../answers/index.ts';
import { openClient } from '../frame/open-client.ts';
import { agentOf, type OnlineSettings } from '../frame/settings.ts';
import type { Target } from '../../answers/input/index.ts';

/** Decides by fetching robots.txt from the origins. With `purpose`, decisions have `usage`. An abort of `signal` rejects pending decisions. */
export async function decideOnline(
  settings: OnlineSettings,
  session: Session,
  signal: AbortSignal,
  purpose: Purpose | undefined,
): Promise<Decider> {
  const opened = await openClient(settings, session);
  const { client } = opened;
  const options = purpose === undefined ? { signal } : { signal, purpose };
  const asked = agentOf(settings);
  return {
    decide(target: Target): TargetResult | Promise<TargetResult> {
      const { input, tooLong } = target;
      if (tooLong === true) return { target, error: tooLongError };
      try {
        const decision = client[QUESTIONS].recall(input, asked);
        if (decision !== undefined) {
          if (purpose === undefined) return { target, decision };
          return { target, decision: { ...decision, usage: client.usageOf(decision, purpose) } };
        }
      } catch (error) {
        if (!isRobotsError(error) || error.code !== 'ERR_ROBOTS_INVALID_URL') throw error;
        return { target, error: { code: error.code, message: error.message } };
      }
      return client.check(input, asked, options).then((decision) => ({ target, decision }));
    },
    close: () => opened[Symbol.asyncDispose](),
  };
}
