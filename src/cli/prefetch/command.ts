import type { Command } from '../frame/command.ts';
import { exitCode } from '../frame/exit-code.ts';
import { formats } from '../frame/choices.ts';
import {
  agentOption,
  deadlineOption,
  formatOptions,
  profileOption,
  proxyOption,
  storeOption,
} from '../frame/options.ts';

/** `canfetch prefetch`: fetches the robots.txt of every origin in a list of URLs. */
export const prefetchCommand: Command = {
  name: 'prefetch',
  summary: 'Ask every origin in a list of URLs for its robots.txt, and tell what came of it',
  operands: 'FILE|-',
  operandsHelp:
    'A file with an absolute http, https or ftp URL on each line, or "-" for standard input. Blank lines and lines\n' +
    'that start with "#" are passed over. Lists may be as long as you like: they are read as fast as answers come.',
  options: [
    agentOption,
    profileOption,
    deadlineOption,
    proxyOption,
    storeOption,
    ...formatOptions(formats, 'json'),
    { name: 'concurrency', value: 'N', help: 'origins asked at a time; 32 by default' },
    { name: 'quiet', short: 'q', help: 'print no lines; the exit code tells' },
  ],
  examples: [
    {
      line: 'canfetch prefetch -a ExampleBot/1.0 urls.txt > origins.ndjson',
      does: 'survey the origins of a crawl',
    },
    {
      line: 'canfetch prefetch -a ExampleBot/1.0 --store robots urls.txt > origins.ndjson',
      does: 'and keep the answers: run it again after an interruption, and it asks for the rest alone',
    },
    {
      line: 'canfetch prefetch - < urls.txt | jq -r \'select(.reason == "unreachable") | .origin\'',
      does: 'those that cannot be crawled now',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'every origin gave an answer' },
    { code: exitCode.undecided, says: 'the robots.txt of at least one is unreachable' },
    {
      code: exitCode.usage,
      says: 'wrong usage, or a line that is no URL; the others are still asked (outranks 3)',
    },
  ],
  notes: [
    'Each origin is asked once, and is a line on standard output as soon as its answer is there. The fields of JSON: ' +
      'origin, state, reason (when no rules are in force), status, error, hops, finalUrl, fetchedAt, staleAt, retryAt.',
    'Of a list with more than a million origins, those that come again after so many others are asked again.',
  ],
  run: async (given, session) => (await import('./run.ts')).prefetchOrigins(given, session),
};
