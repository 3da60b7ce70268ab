import { ADDRESS_POLICIES } from '../../net/address-policy.ts';
import { cacheActions, formats } from '../frame/choices.ts';
import type { Command } from '../frame/command.ts';
import { exitCode } from '../frame/exit-code.ts';
import { agentOption, formatOptions, profileOption } from '../frame/options.ts';

/** `canfetch cache`: lists, shows, clears, exports and imports the records of a store on this machine. */
export const cacheCommand: Command = {
  name: 'cache',
  summary: 'Look into a store of robots.txt on this machine, empty it, or carry it elsewhere',
  operands: 'ACTION [URL…]',
  operandChoices: cacheActions,
  operandsHelp:
    'ACTION is one of these: ls lists the origins; show URL… tells all that is kept of an origin, its file too; clear takes everything away,\n' +
    'or with URL… those origins; export prints the store, import reads that from standard input.',
  options: [
    { name: 'store', value: 'FOLDER', help: 'the folder of the store, as given to lmdbStore({ path })' },
    {
      ...agentOption,
      repeatable: false,
      help: 'whose records; import needs to know, the others take everybody’s',
    },
    {
      name: 'address-policy',
      value: 'NAME',
      choices: ADDRESS_POLICIES,
      help: 'the records of crawlers with this policy; import takes no-public-to-private by default',
    },
    profileOption,
    ...formatOptions(formats, 'text on a terminal, json elsewhere'),
  ],
  examples: [
    { line: 'canfetch cache ls --store ./robots-cache', does: 'what is known of which origins' },
    {
      line: 'canfetch cache clear --store ./robots-cache https://example.com/',
      does: 'ask that origin anew the next time',
    },
    {
      line: 'canfetch cache export --store ./old | canfetch cache import --store ./new -a ExampleBot',
      does: 'carry what is known elsewhere',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'done' },
    {
      code: exitCode.negative,
      says: 'show or clear: nothing is kept of an origin; import: a line was not taken',
    },
    { code: exitCode.usage, says: 'wrong usage, or a store that cannot be opened' },
  ],
  notes: [
    'ls and show print a table for people, or a line of JSON an origin.',
    'Crawlers may use the store meanwhile; what is in their memory stays there. It needs the package lmdb.',
    'export prints what snapshot() does, for restore() and import; of one agent, so name it where there are several.',
  ],
  run: async (given, session) => (await import('./run.ts')).runCache(given, session),
};
