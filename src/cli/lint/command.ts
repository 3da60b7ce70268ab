import { findingFormats, severities } from '../frame/choices.ts';
import type { Command } from '../frame/command.ts';
import { exitCode } from '../frame/exit-code.ts';
import { deadlineOption, formatOptions, profileOption, proxyOption } from '../frame/options.ts';

/** `canfetch lint`: reports problems in robots.txt files. */
export const lintCommand: Command = {
  name: 'lint',
  summary: 'Say what is the matter with a robots.txt, line by line',
  operands: 'FILE|ORIGIN|-…',
  operandsHelp:
    'FILE is a robots.txt on a disk, ORIGIN an absolute http, https or ftp URL whose robots.txt is fetched,\n' +
    '"-" standard input.',
  options: [
    profileOption,
    ...formatOptions(findingFormats),
    {
      name: 'fail-on',
      value: 'SEVERITY',
      choices: [...severities, 'never'],
      help: 'exit with 1 for this and worse; warning by default',
    },
    deadlineOption,
    proxyOption,
  ],
  examples: [
    { line: 'canfetch lint public/robots.txt', does: 'before it is deployed' },
    { line: 'canfetch lint --fail-on error https://example.com', does: 'what is served now' },
    {
      line: 'canfetch lint --format sarif public/robots.txt > robots.sarif',
      does: 'for code scanning, which shows it beside the lines',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'nothing as bad as --fail-on says; also when a site has no robots.txt' },
    { code: exitCode.negative, says: 'something is' },
    { code: exitCode.undecided, says: 'a robots.txt is unreachable (outranks 1)' },
    { code: exitCode.usage, says: 'wrong usage, a file that cannot be read, or a URL that is none' },
  ],
  notes: [],
  run: async (given, session) => (await import('./run.ts')).lintFiles(given, session),
};
