import type { CommandOption, Program } from '../frame/command.ts';
import { commonOptions } from '../frame/options.ts';

/** A word that may stand where the cursor is. */
export interface Offer {
  readonly word: string;
  readonly help?: string;
}

/** What may complete the last of `words`, which follow `canfetch` on a command line: words, or file names. */
export function offersFor(
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
  /** What stands before it, and may be an option that takes it as its value. */
  readonly flag: string | undefined;
  /** What of the word the shell replaces together with the value. */
  readonly prefix: string;
}

/** Reads `--option value`, `--option=value`, and the latter as bash cuts it, where `=` is a word of its own. */
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
