import { type Command, exitCode } from '../frame/command.ts';
import {
  deadlineOption,
  formatOptions,
  profileOption,
  proxyOption,
  findingFormats,
} from '../frame/options.ts';

/** `canfetch test`: compares the verdicts of a robots.txt with what its owner expects. */
export const testCommand: Command = {
  name: 'test',
  summary: 'Test that a robots.txt allows and disallows what you expect',
  operands: 'FILE|ORIGIN|-',
  operandsHelp:
    'FILE is a robots.txt on a disk, ORIGIN an absolute http, https or ftp URL whose robots.txt is fetched, ' +
    '"-" standard input.',
  options: [
    {
      name: 'expect',
      short: 'e',
      value: 'FILE',
      help: 'the expectations, one per line, such as "allow Googlebot /p"; "-" reads standard input',
    },
    profileOption,
    ...formatOptions(findingFormats),
    deadlineOption,
    proxyOption,
  ],
  examples: [
    {
      line: 'canfetch test public/robots.txt --expect robots.expect',
      does: 'test a file before it is deployed',
    },
    {
      line: 'canfetch test https://example.com --expect robots.expect',
      does: 'test what a site serves now',
    },
    {
      line: 'echo "disallow every /admin" | canfetch test public/robots.txt --expect -',
      does: 'test that no group opens a path, whoever adds the next one',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'every expectation is met' },
    { code: exitCode.negative, says: 'at least one is not' },
    { code: exitCode.undecided, says: 'the robots.txt of ORIGIN is unreachable' },
    {
      code: exitCode.usage,
      says: 'wrong usage, a file that cannot be read, a line that is no expectation, or no expectations',
    },
  ],
  notes: [
    'An expectation is "allow" or "disallow", the agent, and a URL or a path that starts with "/", separated by spaces. ' +
      'The agent is a product token, a whole User-Agent, "*" for agents that no group names, or "every" for all agents ' +
      'that the file names and for "*". ' +
      'Blank lines are ignored, and so is "#" with what follows it at the start of a line or after a space.',
  ],
  run: async (given, session) => (await import('./run.ts')).testRobots(given, session),
};
