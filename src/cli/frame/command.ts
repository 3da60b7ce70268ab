import type { ExitCode } from './exit-code.ts';
import type { Session } from '../../report/index.ts';

/** One option of a command. Parsing, `--help`, completion and error messages all come from here. */
export interface CommandOption {
  /** Long name, without the dashes. */
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  /** What its value is called in help texts; without one it is a switch. `FILE` is completed with file names. */
  readonly value?: string;
  /** May be given several times. */
  readonly repeatable?: boolean;
  /** The only values it takes. */
  readonly choices?: readonly string[];
  readonly help: string;
}

/** Switches that were given, and values by option name, in the order they were given. */
export interface ParsedArguments {
  readonly switches: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly operands: readonly string[];
}

/** One command. A new one is a folder beside this one and a line in `commands.ts`. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** What follows the options, as the usage line shows it. Where it speaks of a FILE, file names complete it. */
  readonly operands: string;
  /** What an operand can be, when there is a choice of few. */
  readonly operandChoices?: readonly string[];
  /** What the operands are, for `--help`. */
  readonly operandsHelp: string;
  readonly options: readonly CommandOption[];
  readonly examples: readonly { readonly line: string; readonly does: string }[];
  /** What its exit codes say; those of every command need not be told again. */
  readonly exitCodes: readonly { readonly code: ExitCode; readonly says: string }[];
  /** Whatever else `--help` should say, line by line. */
  readonly notes: readonly string[];
  /** Loads what it needs by itself, so that `--help` and usage errors are quick. */
  run(given: ParsedArguments, session: Session, program: Program): Promise<ExitCode>;
}

/** What can be typed: handed to commands that tell about the others. */
export interface Program {
  readonly commands: readonly Command[];
  /** The command that runs, and is completed, when none is named. */
  readonly defaultCommand: Command;
}

/** Options of every command. */
export const commonOptions: readonly CommandOption[] = [
  {
    name: 'color',
    value: 'WHEN',
    choices: ['auto', 'always', 'never'],
    help: 'when to colour; auto heeds FORCE_COLOR, NO_COLOR and whether the output is a terminal',
  },
  { name: 'no-color', help: 'the same as --color never' },
  { name: 'help', short: 'h', help: 'show this' },
  { name: 'version', help: 'show the version' },
];
