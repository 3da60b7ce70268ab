import { type Command, exitCode } from '../frame/command.ts';
import { shells } from '../frame/options.ts';

/** `canfetch completion`: prints the script that lets a shell complete `canfetch`. */
export const completionCommand: Command = {
  name: 'completion',
  summary: 'Print a script that completes commands, options and their values in a shell',
  operands: 'SHELL',
  operandChoices: shells,
  operandsHelp: 'SHELL is bash, zsh or fish.',
  options: [],
  examples: [
    { line: 'source <(canfetch completion bash)', does: 'in ~/.bashrc; likewise for zsh in ~/.zshrc' },
    { line: 'canfetch completion fish | source', does: 'in ~/.config/fish/config.fish' },
  ],
  exitCodes: [
    { code: exitCode.success, says: 'printed' },
    { code: exitCode.usage, says: 'wrong usage, or an unknown shell' },
  ],
  notes: [
    'The script calls the program: `canfetch completion bash -- WORD…` prints what may complete the last word.',
  ],
  run: async (given, session, program) => (await import('./run.ts')).printCompletion(given, session, program),
};
