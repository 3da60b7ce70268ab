import { isRobotsError, omitUndefined } from '../../core/base/index.ts';
import type { RobotsClient } from '../../core/client/index.ts';
import { engineOf } from '../../core/client/client-engine.ts';
import { type Decision, type Purpose, usageOf } from '../../core/decision/index.ts';
import type { Agent } from '../../core/decision/agent-tokens.ts';
import { type Target, type TargetResult, tooLongError } from './input/targets.ts';

/** Decides a target. It returns a promise only when robots.txt must be fetched first. */
export type Decide = (target: Target) => TargetResult | Promise<TargetResult>;

/** Decides by fetching robots.txt from the origins. An abort of `signal` rejects pending decisions. */
export function decideOnline(
  client: RobotsClient,
  agent: Agent | undefined,
  signal: AbortSignal,
  purpose: Purpose | undefined,
): Decide {
  return (target) => {
    const { input, tooLong } = target;
    if (tooLong === true) return { target, error: tooLongError };
    try {
      const decision = decideUrl(client, input, agent, purpose, { signal });
      if (!(decision instanceof Promise)) return { target, decision };
      return decision.then((decided) => ({ target, decision: decided }));
    } catch (error) {
      if (!isRobotsError(error) || error.code !== 'ERR_ROBOTS_INVALID_URL') throw error;
      return { target, error: { code: error.code, message: error.message } };
    }
  };
}

/**
 * Asks a client. Its decision about a URL of a known origin needs no promise: there are many.
 *
 * @param asker Its signal is read only for an origin that has to be asked: one for each request takes longer than a decision.
 */
export function decideUrl(
  client: RobotsClient,
  url: string,
  agent: Agent | undefined,
  purpose: Purpose | undefined,
  asker: { readonly signal: AbortSignal },
): Decision | Promise<Decision> {
  const engine = engineOf(client);
  const known = engine.decideFromMemory(url, agent, true);
  if (known === undefined) return client.check(url, agent, omitUndefined({ signal: asker.signal, purpose }));
  if (purpose === undefined) return engine.publishDecision(known);
  const usage = usageOf(known, engine.fileOf(known), purpose);
  engine.publishDecision(known, { usage });
  return { ...known, usage };
}
