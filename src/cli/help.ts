import { type Session, UsageError } from '../report/index.ts';
import { Output, quoted, widthOf } from '../report/text/index.ts';
import type { Command, ParsedArguments, Program } from './frame/command.ts';
import { type ExitCode, exitCode } from './frame/exit-code.ts';
import { commandHelp, programHelp } from './frame/help.ts';
import { notAmong } from './frame/suggestion.ts';

/** `canfetch help`: prints the page of the program, or of one command. `names` are the other commands. */
export function helpCommand(names: readonly string[]): Command {
  return {
    name: 'help',
    summary: 'Show the help of canfetch or of one command',
    operands: '[COMMAND]',
    operandChoices: names,
    operandsHelp: 'COMMAND is the name of a command; without one, all commands are listed.',
    options: [],
    examples: [{ line: 'canfetch help lint', does: 'options, examples and exit codes of lint' }],
    exitCodes: [
      { code: exitCode.success, says: 'shown' },
      { code: exitCode.usage, says: 'wrong usage, or no such command' },
    ],
    notes: [],
    run: showHelp,
  };
}

/** Prints the page of the program, or of the command that the operand names. */
async function showHelp(
  { operands }: ParsedArguments,
  { stdout }: Session,
  { commands, defaultCommand }: Program,
): Promise<ExitCode> {
  const [wanted, another] = operands;
  if (another !== undefined) {
    throw new UsageError(`Expected one command, got ${quoted(another)} too; leave one of them out`);
  }
  const command = commands.find(({ name }) => name === wanted);
  if (wanted !== undefined && command === undefined) {
    throw notAmong(
      'a command',
      commands.map(({ name }) => name),
      wanted,
      'canfetch help lists what each does',
    );
  }
  const width = widthOf(stdout);
  const output = new Output(stdout);
  await output.write(
    command === undefined ? programHelp(commands, defaultCommand, width) : commandHelp(command, width),
  );
  await output.release();
  return exitCode.success;
}
