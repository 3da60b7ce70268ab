import { type Command, exitCode } from '../frame/command.ts';
import {
  agentOption,
  formatOptions,
  purposeOption,
  robotsOption,
  verboseOption,
  onlineOptions,
} from '../frame/options.ts';

/** `canfetch explain`: one decision, with the robots.txt that it was made from. */
export const explainCommand: Command = {
  name: 'explain',
  summary:
    'Show why a URL is allowed or disallowed: the lines of the file, the matching rules, and the state of the origin',
  operands: 'URL',
  operandsHelp:
    'URL is an absolute http, https or ftp URL; with --robots it may also be a path such as /a?b.',
  options: [
    agentOption,
    purposeOption,
    robotsOption,
    ...onlineOptions,
    verboseOption,
    {
      name: 'page',
      help: 'if the URL is allowed, fetch it and show what X-Robots-Tag and other header fields say of its use',
    },
    { name: 'all', help: 'show every line of a long file' },
    ...formatOptions(),
  ],
  examples: [
    {
      line: 'canfetch explain -a ExampleBot https://example.com/page',
      does: 'which line decides, and which other rules match?',
    },
    {
      line: 'canfetch explain -v https://example.com/',
      does: 'show the requests for robots.txt and their responses too',
    },
    {
      line: 'canfetch explain --robots draft.txt /private/a',
      does: 'try a robots.txt before you publish it',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'the URL is allowed' },
    {
      code: exitCode.negative,
      says: 'the URL is disallowed, or the site does not want it used for --purpose',
    },
    { code: exitCode.undecided, says: 'the URL is undecided, because robots.txt is unreachable' },
    { code: exitCode.usage, says: 'wrong usage, or an invalid URL' },
  ],
  notes: [
    '--page reads header fields, not HTML: robots meta tags are not shown. Directives of a page are reported, and change ' +
      'neither the decision nor the exit code; with --purpose, what it states about that purpose counts. ' +
      'A page whose redirect is refused counts as disallowed.',
  ],
  run: async (given, session) => (await import('./run.ts')).explain(given, session),
};
