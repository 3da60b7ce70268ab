import { type Command, exitCode } from '../frame/command.ts';
import { agentOption, formatOptions, profileOption } from '../frame/options.ts';

/** `canfetch replay`: decides again what the evidence of a crawl says. */
export const replayCommand: Command = {
  name: 'replay',
  summary: 'Decide again what a crawl decided, from the evidence that it wrote',
  operands: 'FILE…',
  operandsHelp:
    'FILE was written with --evidence, or by evidenceFile(). Several files are one log, in the order of time; "-" is ' +
    'standard input.',
  options: [
    { ...profileOption, help: 'decide under this profile what was recorded under another' },
    { ...agentOption, repeatable: false, help: 'decide for this agent what was asked for another' },
    {
      name: 'all',
      help: 'with --profile or --agent: list every decision with another reason, not only those that flip',
    },
    {
      name: 'url',
      value: 'URL',
      help: 'tell what was decided about this page, when, for whom, and by which file',
    },
    ...formatOptions(),
  ],
  examples: [
    { line: 'canfetch replay evidence.ndjson', does: 'does the evidence bear out every decision?' },
    {
      line: 'canfetch replay --profile google evidence.ndjson',
      does: 'which pages would have been decided otherwise under the rules of Google?',
    },
    {
      line: 'canfetch replay --url https://example.com/page evidence.ndjson',
      does: 'did the site allow this page, on that day?',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'every decision comes out as it was recorded' },
    { code: exitCode.negative, says: 'a decision comes out otherwise, or lines are missing' },
    {
      code: exitCode.usage,
      says: 'wrong usage, a line that is no evidence, or bytes that do not fit their digest',
    },
  ],
  notes: [
    'Under another profile, requests would have been made at other times: what was recorded holds on until the next.',
  ],
  run: async (given, session) => (await import('./run.ts')).replayFiles(given, session),
};
