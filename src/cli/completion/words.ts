import type { Command, CommandOption } from '../frame/command.ts';
import { commonOptions } from '../frame/options.ts';

/** The options of a command, followed by the options common to all commands. */
export function optionsOf(command: Command): readonly CommandOption[] {
  return [...command.options, ...commonOptions];
}

/** The kind of word that may follow an option or be an operand. */
export type Completes =
  | { readonly kind: 'choices'; readonly choices: readonly string[] }
  | { readonly kind: 'files' }
  | { readonly kind: 'nothing' };

export function completesOption({ choices, value }: CommandOption): Completes {
  if (choices !== undefined) return { kind: 'choices', choices };
  return { kind: value === 'FILE' ? 'files' : 'nothing' };
}

export function completesOperand({ operandChoices, operands }: Command): Completes {
  if (operandChoices !== undefined) return { kind: 'choices', choices: operandChoices };
  return { kind: operands.includes('FILE') ? 'files' : 'nothing' };
}

/** Quotes a word for Bourne shells, in single quotes. */
export function quotedWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
