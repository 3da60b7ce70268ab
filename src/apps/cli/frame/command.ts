import type { Session } from '../../answers/session.ts';
import { profileNames } from '../../../core/lifecycle/profile.ts';
import { PURPOSES } from '../../../core/decision/decision.ts';

/**
 * Exit codes of the process. Each command defines what the first four mean for it; its table holds the meanings,
 * and `--help` shows them.
 */
export const exitCode = {
  /** Every URL is allowed, or no problem was found. */
  success: 0,
  /** At least one URL is disallowed, or a problem was found. */
  negative: 1,
  /** The command was used wrongly, or its input is invalid. */
  usage: 2,
  /** At least one decision is unknown for now, because a robots.txt is unreachable. */
  undecided: 3,
  /** Internal error: a bug, or a failure of the machine such as a full disk. */
  failure: 70,
  /** Interrupted by Ctrl-C (128 + SIGINT). */
  interrupted: 130,
  /** The reader of standard output closed the pipe (`| head`). */
  brokenPipe: 141,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** The exit codes that results can produce. */
export type ResultExitCode = Exclude<ExitCode, 70 | 130 | 141>;

const bySeverity: readonly ResultExitCode[] = [
  exitCode.success,
  exitCode.negative,
  exitCode.undecided,
  exitCode.usage,
];

/**
 * Returns the code with the higher rank: invalid input outranks every result, and an undecided result outranks a
 * final one.
 */
export function mostSevere(one: ResultExitCode, other: ResultExitCode): ResultExitCode {
  return bySeverity.indexOf(one) > bySeverity.indexOf(other) ? one : other;
}

/** One option of a command. Parsing, `--help` and error messages all use it. */
export interface CommandOption {
  /** Long name, without the dashes. */
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  /** Name of the value in help texts; absent for a switch. */
  readonly value?: string;
  /** Whether the option may be given several times. Default `false`. */
  readonly repeatable?: boolean;
  /** The accepted values; absent when any value is accepted. */
  readonly choices?: readonly string[];
  readonly help: string;
}

/** The parsed arguments: switches, operands, and values by option name in the order given. */
export interface ParsedArguments {
  readonly switches: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly operands: readonly string[];
}

/** One command. To add one, add its table to `commands.ts`, and a folder with what it does. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Operands as the usage line shows them. */
  readonly operands: string;
  /** Description of the operands for `--help`. */
  readonly operandsHelp: string;
  readonly options: readonly CommandOption[];
  /** Lines to copy, and what each does. */
  readonly examples: Readonly<Record<string, string>>;
  /** Meanings of the exit codes of this command. `--help` adds the codes common to all commands. */
  readonly exitCodes: Readonly<Partial<Record<ResultExitCode, string>>>;
  /** Further lines for `--help`. */
  readonly notes?: readonly string[];
  /** Runs the command. It imports its modules on demand, so that `--help` and usage errors stay fast. */
  run(given: ParsedArguments, session: Session): Promise<ExitCode>;
}

/** Resolves on Ctrl-C and on SIGTERM. */
export function waitForShutdown({ onSignal, signal }: Session): Promise<void> {
  return new Promise((resolve) => {
    const shutDown = (): void => {
      // A second SIGTERM ends the process.
      removeListener?.();
      resolve();
    };
    const removeListener = onSignal?.('SIGTERM', shutDown);
    if (signal.aborted) shutDown();
    else signal.addEventListener('abort', shutDown, { once: true });
  });
}

/** An error that is a bug, for the log. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

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
  help: 'http or https proxy for all requests but those of NO_PROXY; by default as in curl: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY',
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
