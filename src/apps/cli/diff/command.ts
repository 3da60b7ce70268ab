import { type Command, exitCode } from '../frame/command.ts';
import { agentOption, fetchOptions, formatOptions } from '../frame/options.ts';

/** `canfetch diff`: shows which rules and decisions differ between two robots.txt files. */
export const diffCommand: Command = {
  name: 'diff',
  summary:
    'Compare two robots.txt files: which rules changed, for which agents, and which URLs are decided differently',
  operands: 'FILE|ORIGIN|- FILE|ORIGIN|-',
  operandsHelp:
    'First the old file, then the new one. FILE is a robots.txt on disk; ORIGIN is an absolute http, https or ftp URL ' +
    'whose robots.txt is fetched; "-" is standard input. Comments, layout and the order of groups make no ' +
    'difference. The URLs to compare are derived from the rules of both files; --url adds your own.',
  options: [
    {
      ...agentOption,
      help: 'the agent to compare for: a product token or a full User-Agent; by default * and all agents that the files name',
    },
    {
      name: 'url',
      short: 'u',
      value: 'URL',
      repeatable: true,
      help: 'a URL or path to compare; "-" reads them from standard input',
    },
    ...fetchOptions,
    ...formatOptions(),
  ],
  examples: [
    {
      line: 'canfetch diff https://example.com public/robots.txt',
      does: 'what will change when this file is published?',
    },
    {
      line: 'canfetch diff -a Googlebot -u - old.txt new.txt < urls.txt',
      does: 'which of these URLs change for Googlebot?',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'no difference' },
    { code: exitCode.negative, says: 'a difference' },
    {
      code: exitCode.usage,
      says: 'wrong usage, an unreadable file, an invalid URL, or an unreachable robots.txt',
    },
  ],
  notes: [],
  run: async (given, session) => (await import('./run.ts')).diffFiles(given, session),
};
