import { profileNames } from '../../lifecycle/profile.ts';
import { PURPOSES } from '../../decision/purpose.ts';
import { type Format, formats } from './choices.ts';
import type { CommandOption } from './command.ts';

/** Options that several commands share. */

export const agentOption: CommandOption = {
  name: 'agent',
  short: 'a',
  value: 'AGENT',
  repeatable: true,
  help: 'who asks: a product token or a whole User-Agent; of several the first that a group names counts',
};

export const profileOption: CommandOption = {
  name: 'profile',
  value: 'NAME',
  choices: profileNames,
  help: 'what answers and failures mean',
};

export const deadlineOption: CommandOption = {
  name: 'deadline-ms',
  value: 'MS',
  help: 'time for one robots.txt, redirects included; 10000 by default',
};

export const proxyOption: CommandOption = {
  name: 'proxy',
  value: 'URL',
  help: 'http or https proxy for all requests; else HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY count, as for curl',
};

export const robotsOption: CommandOption = {
  name: 'robots',
  value: 'FILE',
  help: 'decide by this robots.txt, without network; "-" reads standard input',
};

export const purposeOption: CommandOption = {
  name: 'purpose',
  value: 'PURPOSE',
  choices: PURPOSES,
  help: 'what the pages are fetched for; also say whether the site wants them used so',
};

/** `--format`, and `--json` as its short form. */
export function formatOptions(
  choices: readonly Format[] = formats,
  byDefault = 'text',
): readonly CommandOption[] {
  return [
    {
      name: 'format',
      value: 'FORMAT',
      choices,
      help: `how it is printed; json is one object per line; ${byDefault} by default`,
    },
    { name: 'json', help: 'the same as --format json' },
  ];
}

export const verboseOption: CommandOption = {
  name: 'verbose',
  short: 'v',
  help: 'show every request for robots.txt, its answer and the fields that matter, as curl -v does',
};

export const storeOption: CommandOption = {
  name: 'store',
  value: 'FOLDER',
  help: 'keep answers here for the next run, and use those of others (needs the package lmdb)',
};
