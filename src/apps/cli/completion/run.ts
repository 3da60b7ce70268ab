import {
  exitCode,
  type ParsedArguments,
  type Program,
  type ExitCode,
  type CommandOption,
} from '../frame/command.ts';
import { shells, commonOptions } from '../frame/options.ts';
import type { Session } from '../../answers/session.ts';
import { writeWhole } from '../../answers/text/output.ts';
import { notAmong } from '../frame/arguments.ts';

type Shell = (typeof shells)[number];

/** Prints the script of a shell, or, for words after the shell's name, how they can be completed. */
export async function printCompletion(
  { operands }: ParsedArguments,
  { stdout }: Session,
  program: Program,
): Promise<ExitCode> {
  const [wanted, ...words] = operands;
  const shell = shells.find((each) => each === wanted);
  if (shell === undefined) throw notAmong('a shell', shells, wanted);
  await writeWhole(stdout, words.length === 0 ? stubs[shell] : answer(shell, offersFor(words, program)));
  return exitCode.success;
}

function answer(shell: Shell, offers: readonly Offer[] | 'files'): string {
  if (offers === 'files') return ':files\n';
  return offers.map((offer) => `${lineOf[shell](offer)}\n`).join('');
}

/** How each shell reads a word and its description. */
const lineOf: Readonly<Record<Shell, (offer: Offer) => string>> = {
  bash: ({ word }) => word,
  zsh: ({ word, help }) => word.replaceAll(':', String.raw`\:`) + (help === undefined ? '' : `:${help}`),
  fish: ({ word, help }) => (help === undefined ? word : `${word}\t${help}`),
};

/** A word that the shell can offer at the cursor. */
interface Offer {
  readonly word: string;
  readonly help?: string;
}

/** Completions of the last of `words`, which follow `canfetch` on a command line: words, or file names. */
function offersFor(
  words: readonly string[],
  { commands, defaultCommand }: Program,
): readonly Offer[] | 'files' {
  const named = words.length > 1 ? commands.find(({ name }) => name === words[0]) : undefined;
  const command = named ?? defaultCommand;
  const options = [...command.options, ...commonOptions];
  const { word, flag, prefix } = wordAtCursor(words);
  const option = options.find(({ name, short }) => flag === `--${name}` || flag === `-${short}`);
  if (option?.value !== undefined) {
    if (option.value === 'FILE') return 'files';
    return beginningWith(word, option.choices ?? []).map((choice) => ({ word: prefix + choice }));
  }
  if (word.startsWith('-')) return flagOffers(word, options);
  if (words.length <= 1) {
    return commands
      .filter(({ name }) => name.startsWith(word))
      .map(({ name, summary }) => ({ word: name, help: summary }));
  }
  if (command.operandChoices !== undefined) {
    return beginningWith(word, command.operandChoices).map((choice) => ({ word: choice }));
  }
  return command.operands.includes('FILE') ? 'files' : [];
}

interface WordAtCursor {
  readonly word: string;
  /** The word before it, which may be an option that takes it as its value. */
  readonly flag: string | undefined;
  /** The part of the word that the shell replaces together with the value. */
  readonly prefix: string;
}

/** Reads `--option value`, `--option=value`, and the latter as bash splits it, with `=` as a separate word. */
function wordAtCursor(words: readonly string[]): WordAtCursor {
  const last = words.at(-1) ?? '';
  const [, prefix, value] = /^(--[^=]+=)(.*)$/s.exec(last) ?? [];
  if (prefix !== undefined && value !== undefined) return { word: value, flag: prefix.slice(0, -1), prefix };
  if (last === '=') return { word: '', flag: words.at(-2), prefix: '' };
  return { word: last, flag: words.at(words.at(-2) === '=' ? -3 : -2), prefix: '' };
}

function flagOffers(word: string, options: readonly CommandOption[]): readonly Offer[] {
  return options
    .flatMap(({ name, short, help }) => [
      { word: `--${name}`, help },
      ...(short === undefined ? [] : [{ word: `-${short}`, help }]),
    ])
    .filter((offer) => offer.word.startsWith(word));
}

function beginningWith(word: string, choices: readonly string[]): readonly string[] {
  return choices.filter((choice) => choice.startsWith(word));
}

/**
 * The scripts that shells load. They do not list the commands: at each completion they call the program with the words
 * up to the cursor (`offersFor`), so they need no update with it. If it prints `:files`, the shell offers file names.
 */
const stubs: Readonly<Record<(typeof shells)[number], string>> = {
  // bash splits words at "=" and ":", so only the last of them is replaced.
  bash: `# Completion of canfetch for bash 4 and later. Load it with: source <(canfetch completion bash)
_canfetch() {
  mapfile -t COMPREPLY < <(canfetch completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  if [[ \${COMPREPLY[0]} == :files ]]; then
    compopt -o filenames 2> /dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]#=}")
  fi
}
complete -F _canfetch canfetch
`,
  zsh: `#compdef canfetch
# Completion of canfetch for zsh. Load it with: source <(canfetch completion zsh)
_canfetch() {
  local -a offers
  offers=(\${(f)"$(canfetch completion zsh -- "\${(@)words[2,CURRENT]}" 2> /dev/null)"})
  if [[ $offers[1] == :files ]]; then
    [[ $PREFIX == --*=* ]] && compset -P '*='
    _files
  else
    _describe canfetch offers
  fi
}
if [[ $funcstack[1] == _canfetch ]]; then
  _canfetch "$@"
else
  compdef _canfetch canfetch
fi
`,
  fish: `# Completion of canfetch for fish. Load it with: canfetch completion fish | source
function __canfetch
  set -l words (commandline --cut-at-cursor --tokenize)
  set -l word (commandline --current-token --cut-at-cursor)
  set -l offers (canfetch completion fish -- $words[2..] "$word" 2> /dev/null)
  if test "$offers[1]" = :files
    set -l option (string match --regex -- '^--[^=]+=' "$word"; or echo '')
    string join \\n -- $option(__fish_complete_path (string sub --start (math (string length -- "$option") + 1) -- "$word"))
  else
    string join \\n -- $offers
  end
end
complete -c canfetch -f -a '(__canfetch)'
`,
};
