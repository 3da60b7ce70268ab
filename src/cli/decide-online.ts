import type { ProfileName } from '../access/index.ts';
import { isRobotsError } from '../errors.ts';
import { type Answer, type Decider, tooLongError } from './answer.ts';
import type { Target } from './targets.ts';

export interface OnlineOptions {
  /** In order of preference; the client's own name when empty. */
  readonly agents: readonly string[];
  readonly profile: ProfileName;
  readonly deadlineMs: number | undefined;
  /** Rejects what is still undecided. */
  readonly signal: AbortSignal;
}

/** Decides by asking the origins. Loads the client, and with it all libraries. */
export async function decideOnline({ agents, profile, deadlineMs, signal }: OnlineOptions): Promise<Decider> {
  const { RobotsClient } = await import('../client.ts');
  // "*" names nobody who could sign a request.
  const names = agents.filter((agent) => agent !== '*');
  const client = new RobotsClient({
    profile,
    ...(names.length === 0 ? {} : { agent: names }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
  const asked = agents.length === 0 ? undefined : agents;
  return {
    async decide(target: Target): Promise<Answer> {
      if (target.tooLong === true) return { target, error: tooLongError };
      try {
        return { target, ruling: await client.check(target.input, asked, { signal }) };
      } catch (error) {
        if (!isRobotsError(error) || error.code !== 'ERR_ROBOTS_INVALID_URL') throw error;
        return { target, error: { code: error.code, message: error.message } };
      }
    },
    close: () => client.close(),
  };
}
