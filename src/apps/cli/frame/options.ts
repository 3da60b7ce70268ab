import { profileNames } from '../../../core/lifecycle/profile.ts';
import { PURPOSES } from '../../../core/decision/decision.ts';
import type { CommandOption } from './command.ts';

/** The formats of every command that prints results. `json` is one object per line. */
export const formats = ['text', 'json'] as const;

/** The formats of lists that a spreadsheet may take. */
export const listFormats = ['text', 'json', 'csv'] as const;

export type Format = (typeof listFormats)[number];

/** Options that several commands share, and at the end those that all have. */

export const agentOption: CommandOption = {
  name: 'agent',
  short: 'a',
  value: 'AGENT',
  repeatable: true,
  help: 'the crawler: a product token or a full User-Agent; of several, the first that some group names is used',
};

export const profileOption: CommandOption = {
  name: 'profile',
  value: 'NAME',
  choices: profileNames,
  help: 'the rules for responses and failures; rfc9309 by default',
};

export const deadlineOption: CommandOption = {
  name: 'deadline-ms',
  value: 'MS',
  help: 'time for one robots.txt, redirects included; 10000 by default',
};

export const proxyOption: CommandOption = {
  name: 'proxy',
  value: 'URL',
  help: 'http or https proxy for all requests; by default as in curl: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY',
};

export const robotsOption: CommandOption = {
  name: 'robots',
  value: 'FILE',
  help: 'decide by this file, without network requests; "-" reads standard input',
};

export const purposeOption: CommandOption = {
  name: 'purpose',
  value: 'PURPOSE',
  choices: PURPOSES,
  help: 'what the pages are fetched for; also show whether the site wants them used for that',
};

/** `--format`, and `--json` as its short form. */
export function formatOptions(
  choices: readonly Format[] = formats,
  byDefault = 'text',
): readonly CommandOption[] {
  return [
    {
      name: 'format',
      value: 'FORMAT',
      choices,
      help: `the output format; json is one object per line; ${byDefault} by default`,
    },
    { name: 'json', help: 'the same as --format json' },
  ];
}

export const allowPrivateOption: CommandOption = {
  name: 'allow-private',
  help: 'fetch from private, loopback and link-local addresses too, not only from public ones',
};

const storeOption: CommandOption = {
  name: 'store',
  value: 'STORE',
  help: 'read and keep robots.txt records here, for the next run and for other processes: a file of SQLite (needs Node.js 22.13, or the package libsql or better-sqlite3), or redis://HOST:PORT/DATABASE for a Redis or Valkey server, rediss:// over TLS (needs the package redis)',
};

export const evidenceOption: CommandOption = {
  name: 'evidence',
  value: 'FILE',
  help: 'append to this file what robots.txt said when, and what was decided by it; see `canfetch replay`',
};

/** How robots.txt files are requested. */
export const fetchOptions: readonly CommandOption[] = [profileOption, deadlineOption, proxyOption];

/** How robots.txt files are requested, and where their records are kept. */
export const onlineOptions: readonly CommandOption[] = [...fetchOptions, storeOption];

/** Options that every command has. */
export const commonOptions: readonly CommandOption[] = [
  { name: 'help', short: 'h', help: 'show this help' },
  { name: 'version', short: 'V', help: 'show the version' },
];
