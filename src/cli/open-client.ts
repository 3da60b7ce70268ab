import type { ProfileName } from '../access/index.ts';
import type { RobotsClient } from '../client.ts';
import type { RobotsClientOptions } from '../options.ts';
import type { ParsedArguments } from './command.ts';
import { readAgents, readDeadlineMs, readProfile } from './settings.ts';

/** What commands that ask origins are told. */
export interface OnlineSettings {
  /** In order of preference; the client's own name when empty. */
  readonly agents: readonly string[];
  readonly profile: ProfileName;
  readonly deadlineMs: number | undefined;
}

/** @throws UsageError */
export function onlineSettings(given: ParsedArguments): OnlineSettings {
  return { agents: readAgents(given), profile: readProfile(given), deadlineMs: readDeadlineMs(given) };
}

/** A client to ask with. Loads all libraries. */
export async function openClient(
  { agents, profile, deadlineMs }: OnlineSettings,
  more: RobotsClientOptions = {},
): Promise<RobotsClient> {
  const { RobotsClient } = await import('../client.ts');
  // "*" names nobody who could sign a request.
  const names = agents.filter((agent) => agent !== '*');
  return new RobotsClient({
    profile,
    ...(names.length === 0 ? {} : { agent: names }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...more,
  });
}
