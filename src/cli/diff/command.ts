import type { Command } from '../frame/command.ts';
import { exitCode } from '../frame/exit-code.ts';
import { agentOption, deadlineOption, formatOptions, profileOption, proxyOption } from '../frame/options.ts';

/** `canfetch diff`: shows which rules and decisions differ between two robots.txt files. */
export const diffCommand: Command = {
  name: 'diff',
  summary: 'Say what changed from one robots.txt to another: for whom, which rules, and which URLs flip',
  operands: 'FILE|ORIGIN|- FILE|ORIGIN|-',
  operandsHelp:
    'The one before, and the one after. FILE is a robots.txt on a disk, such as a snapshot of an earlier one, ORIGIN\n' +
    'an absolute http, https or ftp URL whose robots.txt is fetched, "-" standard input. Comments, layout and the\n' +
    'order of groups make no difference. URLs to try are made from the rules of both files; give your own besides.',
  options: [
    {
      ...agentOption,
      help: 'for whom: a product token or a whole User-Agent; all that the files name, and *, when not given',
    },
    {
      name: 'url',
      short: 'u',
      value: 'URL',
      repeatable: true,
      help: 'a URL, or a path, to try; "-" reads them from standard input',
    },
    profileOption,
    deadlineOption,
    proxyOption,
    ...formatOptions(),
  ],
  examples: [
    {
      line: 'canfetch diff https://example.com public/robots.txt',
      does: 'what will change when this is deployed?',
    },
    {
      line: 'canfetch diff -a Googlebot -u - old.txt new.txt < urls.txt',
      does: 'which of these URLs flip for Googlebot?',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'they say the same' },
    { code: exitCode.negative, says: 'they do not' },
    {
      code: exitCode.usage,
      says: 'trouble: wrong usage, a file that cannot be read, a URL that is none, or a robots.txt that is unreachable',
    },
  ],
  notes: [],
  run: async (given, session) => (await import('./run.ts')).diffFiles(given, session),
};
