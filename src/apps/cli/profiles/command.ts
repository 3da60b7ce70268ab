import { profileNames } from '../../../core/lifecycle/profile.ts';
import { type Command, exitCode } from '../frame/command.ts';
import { formatOptions } from '../frame/options.ts';

/** `canfetch profiles`: prints the semantics of the profiles as tables. */
export const profilesCommand: Command = {
  name: 'profiles',
  summary: 'Show what each profile makes of responses and failures',
  operands: '[NAME]',
  operandChoices: profileNames,
  operandsHelp: 'NAME is a profile; without it, all profiles are compared.',
  options: formatOptions(),
  examples: [
    { line: 'canfetch profiles', does: 'compare the profiles' },
    {
      line: "canfetch profiles google --json | jq '.lifetime'",
      does: 'print one as data, to derive your own: { ...profile, name: "mine" }',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'shown' },
    { code: exitCode.usage, says: 'wrong usage, or an unknown profile' },
  ],
  notes: [],
  run: async (given, session) => (await import('./run.ts')).showProfiles(given, session),
};
