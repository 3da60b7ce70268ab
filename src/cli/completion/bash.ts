import type { Command, Program } from '../frame/command.ts';
import { type Completes, completesOperand, completesOption, optionsOf, quotedWord } from './words.ts';

/** A completion script for bash 4 and later. */
export function bashCompletion({ commands, defaultCommand }: Program): string {
  const names = commands.map(({ name }) => name);
  return `# Completion of canfetch for bash. Load it with: source <(canfetch completion bash)
_canfetch() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} command=${defaultCommand.name}
  # bash splits words at "=".
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case \${COMP_WORDS[1]} in
    ${names.join(' | ')}) ((COMP_CWORD > 1)) && command=\${COMP_WORDS[1]} ;;
  esac
  COMPREPLY=()
  case "$command $prev" in
${commands.flatMap(optionCases).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case $command in
${commands.map(flagCase).join('\n')}
    esac
    return
  fi
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W ${quotedWord(names.join(' '))} -- "$cur"))
    return
  fi
  case $command in
${commands.map((command) => `    ${command.name}) ${reply(completesOperand(command))} ;;`).join('\n')}
  esac
}
complete -F _canfetch canfetch
`;
}

function optionCases(command: Command): string[] {
  return optionsOf(command).flatMap((option) => {
    if (option.value === undefined) return [];
    const flags = [`--${option.name}`, ...(option.short === undefined ? [] : [`-${option.short}`])];
    const patterns = flags.map((flag) => `"${command.name} ${flag}"`).join(' | ');
    return [`    ${patterns}) ${reply(completesOption(option))}; return ;;`];
  });
}

function flagCase(command: Command): string {
  const flags = optionsOf(command).flatMap(({ name, short }) => [
    `--${name}`,
    ...(short === undefined ? [] : [`-${short}`]),
  ]);
  return `      ${command.name}) COMPREPLY=($(compgen -W ${quotedWord(flags.join(' '))} -- "$cur")) ;;`;
}

function reply(completes: Completes): string {
  switch (completes.kind) {
    case 'choices':
      return `COMPREPLY=($(compgen -W ${quotedWord(completes.choices.join(' '))} -- "$cur"))`;
    case 'files':
      return 'compopt -o filenames 2> /dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur")';
    case 'nothing':
      return ':';
  }
}
