import { type Command, exitCode } from '../frame/command.ts';
import {
  deadlineOption,
  formatOptions,
  profileOption,
  proxyOption,
  findingFormats,
  severities,
} from '../frame/options.ts';

/** `canfetch lint`: reports problems in robots.txt files. */
export const lintCommand: Command = {
  name: 'lint',
  summary: 'Report problems of robots.txt files, line by line',
  operands: 'FILE|ORIGIN|-…',
  operandsHelp:
    'FILE is a robots.txt on disk; ORIGIN is an absolute http, https or ftp URL whose robots.txt is fetched; ' +
    '"-" is standard input.',
  options: [
    profileOption,
    ...formatOptions(findingFormats),
    {
      name: 'severity',
      value: 'SEVERITY',
      choices: severities,
      help: 'show findings of this severity or worse; info by default',
    },
    {
      name: 'fail-on',
      value: 'SEVERITY',
      choices: [...severities, 'never'],
      help: 'exit with 1 for findings of this severity or worse; warning by default',
    },
    deadlineOption,
    proxyOption,
  ],
  examples: [
    { line: 'canfetch lint public/robots.txt', does: 'check a file before you publish it' },
    {
      line: 'canfetch lint --fail-on error https://example.com',
      does: 'check the file that a site serves now',
    },
    {
      line: 'canfetch lint --format sarif public/robots.txt > robots.sarif',
      does: 'make a report for code scanning',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'no finding as severe as --fail-on, or the site has no robots.txt' },
    { code: exitCode.negative, says: 'a finding as severe as --fail-on' },
    { code: exitCode.undecided, says: 'a robots.txt is unreachable (outranks 1)' },
    { code: exitCode.usage, says: 'wrong usage, an unreadable file, or an invalid URL' },
  ],
  notes: [],
  run: async (given, session) => (await import('./run.ts')).lintFiles(given, session),
};
