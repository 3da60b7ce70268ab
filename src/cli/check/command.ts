import type { Command } from '../frame/command.ts';
import { exitCode } from '../frame/exit-code.ts';
import {
  agentOption,
  deadlineOption,
  formatOptions,
  profileOption,
  proxyOption,
  robotsOption,
  storeOption,
} from '../frame/options.ts';

/** `canfetch check`: one answer per URL, in the order of the URLs. */
export const check: Command = {
  name: 'check',
  summary: 'Say of each URL whether the agent may fetch it, and why',
  operands: 'URL…',
  operandsHelp:
    'URL is an absolute http, https or ftp URL; "-" reads them from standard input, one per line,\n' +
    'without blank lines and lines that start with "#". With --robots it may also be a path such as /a?b.',
  options: [
    agentOption,
    robotsOption,
    profileOption,
    deadlineOption,
    proxyOption,
    storeOption,
    ...formatOptions(),
    { name: 'quiet', short: 'q', help: 'print no answers; the exit code tells' },
  ],
  examples: [
    { line: 'canfetch -a ExampleBot/1.0 https://example.com/page', does: 'may ExampleBot fetch this page?' },
    { line: 'canfetch check --json - < urls.txt > decisions.ndjson', does: 'decide a list of URLs' },
    {
      line: 'canfetch check --robots draft.txt -a ExampleBot /private/a',
      does: 'try a robots.txt before it is served',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'every URL is allowed' },
    { code: exitCode.negative, says: 'at least one is disallowed' },
    {
      code: exitCode.undecided,
      says: 'at least one is undecided, because robots.txt is unreachable (outranks 1)',
    },
    {
      code: exitCode.usage,
      says: 'wrong usage, or a URL that is none; the others are still answered (outranks 1 and 3)',
    },
  ],
  notes: [],
  run: async (given, session) => (await import('./run.ts')).checkUrls(given, session),
};
