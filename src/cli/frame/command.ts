import type { ExitCode } from './exit-code.ts';
import type { Session } from '../../report/index.ts';

/** One option of a command. Parsing, `--help`, completion and error messages all use it. */
export interface CommandOption {
  /** Long name, without the dashes. */
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  /** Name of the value in help texts; absent for a switch. Shells complete `FILE` with file names. */
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

/** One command. To add one, make a folder beside this one and add a line to `commands.ts`. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Operands as the usage line shows them. Shells complete file names when the text contains `FILE`. */
  readonly operands: string;
  /** The accepted operands; absent when any operand is accepted. */
  readonly operandChoices?: readonly string[];
  /** Description of the operands for `--help`. */
  readonly operandsHelp: string;
  readonly options: readonly CommandOption[];
  readonly examples: readonly { readonly line: string; readonly does: string }[];
  /** Meanings of the exit codes of this command. `--help` adds the codes common to all commands. */
  readonly exitCodes: readonly { readonly code: ExitCode; readonly says: string }[];
  /** Further lines for `--help`. */
  readonly notes: readonly string[];
  /** Runs the command. It imports its modules on demand, so that `--help` and usage errors stay fast. */
  run(given: ParsedArguments, session: Session, program: Program): Promise<ExitCode>;
}

/** All commands; given to commands that describe the others, such as `completion`. */
export interface Program {
  readonly commands: readonly Command[];
  /** The command that runs, and that shells complete, when the arguments name none. */
  readonly defaultCommand: Command;
}
