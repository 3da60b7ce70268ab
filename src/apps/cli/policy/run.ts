import { omitUndefined } from '../../../core/base/index.ts';
import type { OriginPolicy } from '../../../core/decision/index.ts';
import { jsonLine, policyRecord, writeWhole } from '../../answers/text/index.ts';
import { type ParsedArguments, type AnswerExitCode, type ExitCode, exitCode } from '../frame/command.ts';
import { interruptible } from '../frame/interruptible.ts';
import { openClient } from '../frame/open-client.ts';
import { readOrigin } from '../../answers/input/index.ts';
import type { Session } from '../../answers/index.ts';
import type { PolicyLine } from '../../answers/schema.ts';
import { agentOf, layoutOf, onlyOperand, readFormat, onlineSettings } from '../frame/settings.ts';
import { renderPolicy } from './render.ts';

/** Fetches the robots.txt of an origin, and prints the resulting policy. */
export async function showPolicy(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const origin = readOrigin(onlyOperand(given, 'an origin'));
  const settings = onlineSettings(given);
  return interruptible(session, { readsStdin: false }, async (signal) => {
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
  });
}

/** The exit code of a policy. A long outage that the profile treats as an answer is not `undecided`. */
export function codeOf({ reason }: Pick<OriginPolicy, 'reason'>): AnswerExitCode {
  return reason === 'unreachable' ? exitCode.undecided : exitCode.success;
}
