import { type Command, exitCode } from '../frame/command.ts';
import { agentOption, formatOptions, listFormats, profileOption, purposeOption } from '../frame/options.ts';

/** `canfetch replay`: makes the decisions of a crawl again. */
export const replayCommand: Command = {
  name: 'replay',
  summary: 'Make the decisions of a crawl again, from the evidence that it wrote',
  operands: 'FILE…',
  operandsHelp:
    'FILE was written with --evidence, or by evidenceFile(). Several files are read as one log, by time; "-" is ' +
    'standard input.',
  options: [
    { ...profileOption, help: 'decide under this profile what was recorded under another' },
    { ...agentOption, repeatable: false, help: 'decide for this agent what was asked for another' },
    {
      name: 'all',
      help: 'with --profile or --agent: list decisions with another reason, too, not only those that flip',
    },
    { name: 'origin', value: 'URL', help: 'only what was decided about this origin' },
    {
      name: 'since',
      value: 'DATE',
      help: 'only what was decided from this time on, such as 2026-11-23T08:00Z',
    },
    { name: 'until', value: 'DATE', help: 'only what was decided before this time' },
    { name: 'list', help: 'list each decision in words, and what became of its request' },
    { name: 'url', value: 'URL', help: 'the same for this page alone, with the response that decided' },
    { ...purposeOption, help: 'with --list or --url: what the recorded files say about this purpose' },
    { name: 'versions', help: 'list the versions of each robots.txt, from when to when, with their SHA-256' },
    { name: 'body', value: 'SHA256', help: 'write the bytes of this version of a robots.txt' },
    {
      name: 'conduct',
      help: 'check each request against pauses, Retry-After, Crawl-delay, Request-rate and the delays of `pacing`, and list those sent too early',
    },
    ...formatOptions(listFormats),
  ],
  examples: [
    { line: 'canfetch replay evidence.ndjson', does: 'does the evidence support every decision?' },
    {
      line: 'canfetch replay --profile google evidence.ndjson',
      does: 'which decisions would Google have made differently?',
    },
    {
      line: 'canfetch replay --list --format csv evidence.ndjson',
      does: 'what was decided, why, and what became of it?',
    },
    {
      line: 'canfetch replay --url https://example.com/page evidence.ndjson',
      does: 'did the site allow this page on that day?',
    },
    { line: 'canfetch replay --conduct evidence.ndjson', does: 'did the crawler wait as the sites asked?' },
  ],
  exitCodes: [
    {
      code: exitCode.success,
      says: 'every decision is as recorded; with --conduct: no request was too early',
    },
    {
      code: exitCode.negative,
      says: 'a decision differs, lines are missing or were changed, or a request was too early',
    },
    {
      code: exitCode.usage,
      says: 'wrong usage, nothing to judge, a line that is no evidence, or bytes that do not have their digest',
    },
  ],
  notes: [
    'Another profile would have fetched at other times: here a response holds until the next one in the log.',
  ],
  run: async (given, session) => (await import('./run.ts')).replayFiles(given, session),
};
