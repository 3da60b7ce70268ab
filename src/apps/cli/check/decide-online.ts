import { isRobotsError } from '../../../core/base/index.ts';
import { engineOf } from '../../../core/client/engine.ts';
import type { Purpose } from '../../../core/decision/index.ts';
import { type Decider, type TargetResult, tooLongError } from '../../answers/target-result.ts';
import type { Session } from '../../answers/session.ts';
import type { Target } from '../../answers/input/targets.ts';
import { openClient } from '../frame/open-client.ts';
import { agentOf, type OnlineSettings } from '../frame/settings.ts';

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
  const engine = engineOf(client);
  const asked = agentOf(settings);
  return {
    decide(target: Target): TargetResult | Promise<TargetResult> {
      const { input, tooLong } = target;
      if (tooLong === true) return { target, error: tooLongError };
      try {
        const decision = engine.decideFromMemory(input, asked, true);
        if (decision !== undefined) {
          if (purpose === undefined) return { target, decision: engine.publishDecision(decision) };
          const usage = client.usageOf(decision, purpose);
          engine.publishDecision(decision, { usage });
          return { target, decision: { ...decision, usage } };
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
