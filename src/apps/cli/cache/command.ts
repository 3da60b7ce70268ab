import { ADDRESS_POLICIES } from '../../../core/net/address-policy.ts';
import { type Command, exitCode } from '../frame/command.ts';
import { agentOption, formatOptions, profileOption, formats, cacheActions } from '../frame/options.ts';

/** `canfetch cache`: lists, shows, clears, exports and imports the records of a store. */
export const cacheCommand: Command = {
  name: 'cache',
  summary: 'List, show, clear, export or import the records of a store',
  operands: 'ACTION [URL…]',
  operandChoices: cacheActions,
  operandsHelp:
    'ACTION is ls (list the origins), show URL… (show the record of each origin, with its file), clear (delete all records, ' +
    'or with URL… those of these origins), export (print all records) or import (read exported records from standard input).',
  options: [
    {
      name: 'store',
      value: 'STORE',
      help: 'a file of SQLite, the `path` of sqliteStore(), or redis://HOST:PORT',
    },
    {
      ...agentOption,
      repeatable: false,
      help: 'the agent whose records are meant; required for import, all agents by default otherwise',
    },
    {
      name: 'address-policy',
      value: 'NAME',
      choices: ADDRESS_POLICIES,
      help: 'only records of clients with this address policy; import uses no-public-to-private by default',
    },
    profileOption,
    ...formatOptions(formats, 'text on a terminal, json elsewhere'),
  ],
  examples: [
    { line: 'canfetch cache ls --store robots.sqlite', does: 'list the origins in a store' },
    {
      line: 'canfetch cache clear --store robots.sqlite https://example.com/',
      does: 'fetch the robots.txt of that origin again at the next question',
    },
    {
      line: 'canfetch cache export --store old.sqlite | canfetch cache import --store new.sqlite -a ExampleBot',
      does: 'copy the records to another store',
    },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'done' },
    {
      code: exitCode.negative,
      says: 'show or clear: the store has no record of an origin; import: a line was rejected',
    },
    { code: exitCode.usage, says: 'wrong usage, or the store cannot be opened' },
  ],
  notes: [
    'ls and show print a table, or with --format json one line per origin.',
    'Crawlers may use the store at the same time; what they have in memory does not change. A file needs Node.js 22.13, or the package libsql or better-sqlite3; a server the package redis, ioredis or iovalkey.',
    'In Redis it reads all keys that begin with canfetch:, with SCAN.',
    'export prints the format of snapshot(), which restore() and import read. It covers one agent: give --agent if the store has several.',
  ],
  run: async (given, session) => (await import('./run.ts')).runCache(given, session),
};
