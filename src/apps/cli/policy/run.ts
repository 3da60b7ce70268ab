import { omitUndefined, jsonLine, printable } from '../../../core/base/index.ts';
import type { OriginPolicy, PolicyAttempt, ProfileState } from '../../../core/decision/index.ts';
import { policyFields, profileSentence } from '../../answers/policy-fields.ts';
import type { ProfileDecision } from '../../answers/explanation.ts';
import { definitions, type Field, type Palette } from '../../answers/text/layout.ts';
import { policyRecord } from '../../answers/text/json.ts';
import { writeWhole } from '../../answers/text/output.ts';
import { readOrigin } from '../../answers/input/load-robots.ts';
import type { Session } from '../../answers/session.ts';
import { type ResultExitCode, type ExitCode, exitCode, type ParsedArguments } from '../frame/command.ts';
import { openClient } from '../frame/open-client.ts';
import type { PolicyLine } from '../../answers/schema/lines.ts';
import {
  agentOf,
  type Layout,
  layoutOf,
  onlineSettings,
  onlyOperand,
  readFormat,
} from '../frame/settings.ts';
import { RESPONSE_FIELDS, type RobotsResponseHeaders } from '../../../core/lifecycle/index.ts';

/** Fetches the robots.txt of an origin, and prints the resulting policy. */
export async function showPolicy(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const origin = readOrigin(onlyOperand(given, 'an origin'));
  const settings = onlineSettings(given);
  const { signal } = session;
  await using opened = await openClient(settings, session);
  const { client } = opened;
  const policy = await client.policy(origin, { signal, ...omitUndefined({ agent: agentOf(settings) }) });
  await writeWhole(
    session.stdout,
    readFormat(given) === 'json'
      ? jsonLine<PolicyLine>(policyRecord(policy))
      : renderPolicy(policy, { ...layoutOf(given, session), verbose: given.switches.has('verbose') }),
  );
  return codeOf(policy);
}

/** The exit code of a policy. A long outage that the profile treats as final is not `undecided`. */
export function codeOf({ reason }: Pick<OriginPolicy, 'reason'>): ResultExitCode {
  return reason === 'unreachable' ? exitCode.undecided : exitCode.success;
}

export interface PolicyLayout extends Layout {
  /** Whether to show every request and response with its header fields. */
  readonly verbose: boolean;
}

/** Renders a policy as text. */
function renderPolicy(policy: OriginPolicy, { colours, now, width, verbose }: PolicyLayout): string {
  const { attempt, profile, origin } = policy;
  const others = policy.underProfiles.filter((each) => each.profile !== profile);
  return `${[
    `${stateMark(policy, colours)}  ${printable(origin)}  ${colours.faint(`profile ${printable(profile)}`)}`,
    ...definitions(policyFields(policy, now), width, colours.faint),
    ...(verbose && attempt !== undefined ? ['', ...verboseHops(attempt).map((line) => `  ${line}`)] : []),
    ...otherProfiles(others, { colours, width }),
  ].join('\n')}\n`;
}

function stateMark({ state, reason }: OriginPolicy, colours: Palette): string {
  const text = state.toUpperCase();
  if (reason === 'unreachable' || state === 'last-good') return colours.unsure(text);
  return state === 'disallow-all' ? colours.bad(text) : colours.good(text);
}

/** Describes the results under other profiles: a line for each, or one line when all agree. */
export function otherProfiles(
  decisions: readonly (ProfileState | ProfileDecision)[],
  { colours, width }: Omit<PolicyLayout, 'now' | 'verbose'>,
): string[] {
  const fields = decisions.map((each): Field => [each.profile, profileSentence(each)]);
  const [first] = fields;
  if (first === undefined) return [];
  const agreed = fields.every(([, text]) => text === first[1]);
  const shown = agreed ? [['all', first[1]] as const] : fields;
  return ['', '  Under other profiles:', ...definitions(shown, width, colours.faint)];
}

/** Renders requests and responses in the format of `curl -v`. */
export function verboseHops({ hops, headers, error }: PolicyAttempt): string[] {
  return hops.flatMap((hop, index) => {
    const isLast = index === hops.length - 1;
    return [
      `> GET ${printable(hop.url)}`,
      ...(hop.status === undefined ? [] : [`< ${hop.status}`]),
      ...(hop.location === undefined ? [] : [`< location: ${printable(hop.location)}`]),
      ...(isLast ? fieldLines(headers) : []),
      ...(isLast && error !== undefined && error !== 'ERR_ROBOTS_STATUS' ? [`* ${printable(error)}`] : []),
    ];
  });
}

function fieldLines(headers: RobotsResponseHeaders): string[] {
  return RESPONSE_FIELDS.flatMap(([key, name]) => {
    const value = headers[key];
    return value === undefined ? [] : [`< ${name}: ${printable(value)}`];
  });
}
