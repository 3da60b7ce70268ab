import type { Command, CommandOption, Program } from '../frame/command.ts';
import { type Completes, completesOperand, completesOption, optionsOf, quotedWord } from './words.ts';

/** A completion script for zsh. */
export function zshCompletion({ commands, defaultCommand }: Program): string {
  const described = commands.map(({ name, summary }) => quotedWord(`${name}:${colonless(summary)}`));
  return `#compdef canfetch
# Completion of canfetch for zsh. Load it with: source <(canfetch completion zsh)
_canfetch() {
  local -a commands
  commands=(
${described.map((each) => `    ${each}`).join('\n')}
  )
  if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
    _describe -t commands command commands
    return
  fi
  local command=${defaultCommand.name}
  if (($commands[(I)$words[2]:*])); then
    command=$words[2]
    shift words
    ((CURRENT--))
  fi
  case $command in
${commands.map(commandCase).join('\n')}
  esac
}
if [[ $funcstack[1] == _canfetch ]]; then
  _canfetch "$@"
else
  compdef _canfetch canfetch
fi
`;
}

function commandCase(command: Command): string {
  const specs = [...optionsOf(command).map(optionSpec), ...operandSpec(command)];
  return `    ${command.name})\n      _arguments -s -S \\\n${specs.map((spec) => `        ${spec}`).join(' \\\n')}\n      ;;`;
}

/** Returns no spec where nothing can be completed: zsh would count its message as a match beside the options. */
function operandSpec(command: Command): string[] {
  const completes = completesOperand(command);
  if (completes.kind === 'nothing') return [];
  return [quotedWord(`*:${colonless(command.operands)}:${action(completes)}`)];
}

function optionSpec(option: CommandOption): string {
  const { name, short, value, repeatable, help } = option;
  const text = `[${bracketless(help)}]${value === undefined ? '' : `:${value}:${action(completesOption(option))}`}`;
  const one = value === undefined ? `--${name}` : `--${name}=`;
  if (short === undefined) return quotedWord(`${repeatable === true ? '*' : ''}${one}${text}`);
  const prefix = repeatable === true ? quotedWord('*') : quotedWord(`(-${short} --${name})`);
  return `${prefix}{-${short},${one}}${quotedWord(text)}`;
}

function action(completes: Completes): string {
  switch (completes.kind) {
    case 'choices':
      return `(${completes.choices.join(' ')})`;
    case 'files':
      return '_files';
    case 'nothing':
      return ' ';
  }
}

/** Escapes `:`, which separates the fields of a spec. Brackets, which enclose a description, are escaped below. */
function colonless(text: string): string {
  return text.replaceAll(':', String.raw`\:`);
}

function bracketless(text: string): string {
  return colonless(text)
    .replaceAll('[', String.raw`\[`)
    .replaceAll(']', String.raw`\]`);
}
