import type { Command } from '../frame/command.ts';
import { exitCode } from '../frame/exit-code.ts';
import {
  agentOption,
  deadlineOption,
  proxyOption,
  formatOptions,
  profileOption,
  storeOption,
  verboseOption,
} from '../frame/options.ts';

/** `canfetch policy`: shows the state of an origin and how it came about. */
export const policyCommand: Command = {
  name: 'policy',
  summary:
    'Show everything about the robots.txt of an origin: how it answered, for how long that holds, and why',
  operands: 'ORIGIN',
  operandsHelp: 'ORIGIN is an absolute http, https or ftp URL, of any page.',
  options: [
    agentOption,
    profileOption,
    deadlineOption,
    proxyOption,
    storeOption,
    verboseOption,
    ...formatOptions(),
  ],
  examples: [
    { line: 'canfetch policy https://example.com', does: 'what holds for a site, and until when?' },
    {
      line: "canfetch policy https://example.com --json | jq '.sitemaps[].url'",
      does: 'its sitemaps',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'robots.txt gave an answer, be it that there is none' },
    { code: exitCode.undecided, says: 'it is unreachable' },
    { code: exitCode.usage, says: 'wrong usage, or a URL that is none' },
  ],
  notes: [],
  run: async (given, session) => (await import('./run.ts')).showPolicy(given, session),
};
