import { type Command, exitCode } from '../frame/command.ts';
import { agentOption, formatOptions, verboseOption, onlineOptions } from '../frame/options.ts';

/** `canfetch policy`: shows the state of an origin and how it came about. */
export const policyCommand: Command = {
  name: 'policy',
  summary: 'Show the state of an origin: the response for robots.txt, how long it is used, and why',
  operands: 'ORIGIN',
  operandsHelp: 'ORIGIN is the origin, or the absolute http, https or ftp URL of any of its pages.',
  options: [agentOption, ...onlineOptions, verboseOption, ...formatOptions()],
  examples: [
    { line: 'canfetch policy https://example.com', does: 'what is in force for a site, and until when?' },
    {
      line: "canfetch policy https://example.com --json | jq '.sitemaps[].url'",
      does: 'list its sitemaps',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'robots.txt was fetched, or there is none' },
    { code: exitCode.undecided, says: 'robots.txt is unreachable' },
    { code: exitCode.usage, says: 'wrong usage, or an invalid URL' },
  ],
  notes: [],
  run: async (given, session) => (await import('./run.ts')).showPolicy(given, session),
};
