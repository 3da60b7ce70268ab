import { type Command, exitCode } from '../frame/command.ts';
import {
  agentOption,
  evidenceOption,
  formatOptions,
  purposeOption,
  robotsOption,
  onlineOptions,
} from '../frame/options.ts';

/** `canfetch check`: one decision per URL, in the order of the URLs. */
export const check: Command = {
  name: 'check',
  summary: 'Decide for each URL whether the agent may fetch it, and why',
  operands: 'URL…',
  operandsHelp:
    'URL is an absolute http, https or ftp URL; "-" reads URLs from standard input, one per line; blank lines and ' +
    'lines that start with "#" are skipped. With --robots it may also be a path such as /a?b.',
  options: [
    agentOption,
    purposeOption,
    robotsOption,
    ...onlineOptions,
    evidenceOption,
    ...formatOptions(),
    { name: 'long', help: 'show several lines for each URL, as for one; with several it is one line' },
    { name: 'quiet', short: 'q', help: 'print nothing; use the exit code' },
  ],
  examples: [
    { line: 'canfetch -a ExampleBot/1.0 https://example.com/page', does: 'may ExampleBot fetch this page?' },
    { line: 'canfetch check --json - < urls.txt > decisions.ndjson', does: 'decide a list of URLs' },
    {
      line: 'canfetch check --robots draft.txt -a ExampleBot /private/a',
      does: 'try a robots.txt before you publish it',
    },
    {
      line: 'canfetch check --purpose train-ai https://example.com/page',
      does: 'may it be fetched, and does the site want models trained with it?',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'every URL is allowed' },
    {
      code: exitCode.negative,
      says: 'at least one is disallowed, or robots.txt says that it is not wanted for --purpose',
    },
    {
      code: exitCode.undecided,
      says: 'at least one is undecided, because robots.txt is unreachable (outranks 1)',
    },
    {
      code: exitCode.usage,
      says: 'wrong usage, or an invalid URL; the other URLs are still decided (outranks 1 and 3)',
    },
  ],
  notes: [
    'With --purpose a page may be ALLOWED and yet NOT WANTED for the purpose. That is a preference of the site, not a ' +
      'rule: the page may be fetched for other purposes. Header fields of pages are not read: explain --page does that.',
  ],
  run: async (given, session) => (await import('./run.ts')).checkUrls(given, session),
};
