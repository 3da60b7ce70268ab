import type { CommandOption, Program } from '../frame/command.ts';
import { type Completes, completesOperand, completesOption, optionsOf } from './words.ts';

/** A completion script for fish. */
export function fishCompletion({ commands, defaultCommand }: Program): string {
  const names = commands.map(({ name }) => name).join(' ');
  const lines = commands.flatMap((command) => {
    const named = `__fish_seen_subcommand_from ${command.name}`;
    const when = command === defaultCommand ? `${named}; or not __fish_seen_subcommand_from ${names}` : named;
    return [
      line('__fish_use_subcommand', `-f -a ${word(command.name)} -d ${word(command.summary)}`),
      line(named, operandPart(completesOperand(command))),
      ...optionsOf(command).map((option) => line(when, optionPart(option))),
    ];
  });
  return `# Completion of canfetch for fish. Load it with: canfetch completion fish | source
${lines.join('\n')}
`;
}

function line(condition: string, rest: string): string {
  return `complete -c canfetch -n ${word(condition)} ${rest}`;
}

function operandPart(completes: Completes): string {
  switch (completes.kind) {
    case 'choices':
      return `-f -a ${word(completes.choices.join(' '))}`;
    case 'files':
      return '-F';
    case 'nothing':
      return '-f';
  }
}

function optionPart(option: CommandOption): string {
  const { name, short, value, help } = option;
  const flags = `-l ${name}${short === undefined ? '' : ` -s ${short}`}`;
  return `${flags}${value === undefined ? '' : ` ${valuePart(completesOption(option))}`} -d ${word(help)}`;
}

function valuePart(completes: Completes): string {
  switch (completes.kind) {
    case 'choices':
      return `-x -a ${word(completes.choices.join(' '))}`;
    case 'files':
      return '-r -F';
    case 'nothing':
      return '-x';
  }
}

/** Quotes a word. Between single quotes fish reads only the escapes `\\` and `\'`. */
function word(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`;
}
