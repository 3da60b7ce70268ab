import type { shells } from '../frame/options.ts';

/**
 * The scripts that shells load. They know nothing of the commands: at each completion they call the program with the words
 * up to the cursor (`offers.ts`), so they need no update with it. Where it answers `:files`, the shell offers file names.
 */
export const stubs: Readonly<Record<(typeof shells)[number], string>> = {
  // bash splits words at "=" and ":", so the last of them alone is replaced.
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
