import { omitUndefined, jsonLine, printable } from '../../../core/base/index.ts';
import type { OriginPolicy } from '../../../core/decision/index.ts';
import { policyFields } from '../../answers/fields.ts';
import { definitions, type Palette } from '../../answers/text/layout.ts';
import { policyRecord } from '../../answers/text/json.ts';
import { write, type Session } from '../../answers/session.ts';
import { readOrigin } from '../../answers/input/load-robots.ts';
import { type ExitCode, exitCode, type ParsedArguments } from '../frame/command.ts';
import { openClient } from '../frame/open-client.ts';
import {
  agentOf,
  type Layout,
  layoutOf,
  onlineSettings,
  onlyOperand,
  readFormat,
} from '../frame/settings.ts';

/** Fetches the robots.txt of an origin, and prints the resulting policy. */
export async function showPolicy(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const origin = readOrigin(onlyOperand(given, 'an origin'));
  const settings = onlineSettings(given);
  const { signal } = session;
  await using opened = await openClient(settings, session);
  const { client } = opened;
  const policy = await client.policy(origin, { signal, ...omitUndefined({ agent: agentOf(settings) }) });
  await write(
    session.stdout,
    readFormat(given) === 'json' ? jsonLine(policyRecord(policy)) : renderPolicy(policy, layoutOf(session)),
  );
  // A long outage that the profile treats as final is not `undecided`.
  return policy.reason === 'unreachable' ? exitCode.undecided : exitCode.success;
}

/** Renders a policy as text. */
function renderPolicy(policy: OriginPolicy, { colours, now, width }: Layout): string {
  const { profile, origin } = policy;
  return `${[
    `${stateMark(policy, colours)}  ${printable(origin)}  ${colours.faint(`profile ${printable(profile)}`)}`,
    ...definitions(policyFields(policy, now), width, colours.faint),
  ].join('\n')}\n`;
}

function stateMark({ state, reason }: OriginPolicy, colours: Palette): string {
  const text = state.toUpperCase();
  if (reason === 'unreachable' || state === 'last-good') return colours.unsure(text);
  return state === 'disallow-all' ? colours.bad(text) : colours.good(text);
}
