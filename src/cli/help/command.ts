import type { Command } from '../frame/command.ts';
import { exitCode } from '../frame/exit-code.ts';

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
    run: async (given, session, program) => (await import('./run.ts')).showHelp(given, session, program),
  };
}
