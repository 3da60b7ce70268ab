import { type Command, exitCode } from '../frame/command.ts';
import { agentOption, evidenceOption, formatOptions, formats, onlineOptions } from '../frame/options.ts';

/** `canfetch prefetch`: fetches the robots.txt of every origin in a list of URLs. */
export const prefetchCommand: Command = {
  name: 'prefetch',
  summary: 'Fetch the robots.txt of every origin in a list of URLs',
  operands: 'FILE|-',
  operandsHelp:
    'FILE has an absolute http, https or ftp URL on each line; "-" is standard input. Blank lines and lines that ' +
    'start with "#" are skipped. The list is read as it is worked on, so it may have any length.',
  options: [
    agentOption,
    ...onlineOptions,
    evidenceOption,
    ...formatOptions(formats, 'json'),
    { name: 'concurrency', value: 'N', help: 'origins fetched at the same time; 32 by default' },
    { name: 'quiet', short: 'q', help: 'print nothing; use the exit code' },
  ],
  examples: [
    {
      line: 'canfetch prefetch -a ExampleBot/1.0 urls.txt > origins.ndjson',
      does: 'survey the origins of a crawl',
    },
    {
      line: 'canfetch prefetch -a ExampleBot/1.0 --store robots urls.txt > origins.ndjson',
      does: 'keep the records; a second run after an interruption fetches only the rest',
    },
    {
      line: 'canfetch prefetch - < urls.txt | jq -r \'select(.reason == "unreachable") | .origin\'',
      does: 'list the origins that cannot be crawled now',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'no robots.txt is unreachable' },
    { code: exitCode.undecided, says: 'at least one robots.txt is unreachable' },
    {
      code: exitCode.usage,
      says: 'wrong usage, or a line that is not a URL; the other lines are still processed (outranks 3)',
    },
  ],
  notes: [
    'Each origin is fetched once, and gives one line of output as soon as it is done. The fields of the JSON: ' +
      'origin, state, reason (when no rules are in force), status, error, hops, finalUrl, fetchedAt, staleAt, retryAt, suspect (when the file looks like a page).',
    'In a list of more than a million origins, an origin may be reported again when it reappears.',
  ],
  run: async (given, session) => (await import('./run.ts')).prefetchOrigins(given, session),
};
