import { quote, RobotsInvalidOptionsError } from './errors.ts';

/**
 * The error for an invalid argument or option.
 *
 * @param choices The valid values. If one of them was probably meant, the message proposes it.
 */
export function invalid(
  name: string,
  expected: string,
  got: unknown,
  choices: readonly string[] = [],
): RobotsInvalidOptionsError {
  const meant = closestChoice(got, choices);
  const proposal = meant === undefined ? '' : `; did you mean '${meant}'?`;
  return new RobotsInvalidOptionsError(`Expected ${name} to be ${expected}, got ${show(got)}${proposal}`);
}

/** The choice that `got` misspells by one or two letters, or by the order of its words, as `ai-train` for `train-ai`. */
export function closestChoice(got: unknown, choices: readonly string[]): string | undefined {
  if (typeof got !== 'string') return undefined;
  const word = got.toLowerCase();
  const sorted = (text: string): string => text.split('-').sort().join();
  return choices.find(
    (choice) =>
      isWithinEditDistance(word, choice, choice.length > 5 ? 2 : 1) || sorted(word) === sorted(choice),
  );
}

/**
 * Throws for unknown options: a misspelt one would silently have no effect.
 *
 * @param prefix Put before the names in messages.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), also when the options are no object.
 */
export function assertKnownOptions(options: unknown, known: readonly string[], prefix = ''): void {
  if (typeof options !== 'object' || options === null) throw invalid('the options', 'an object', options);
  const unknown = Object.keys(options).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw unknownOptions(unknown, known, prefix);
}

/** The error for unknown options. It suggests the known option nearest to the first of them. */
export function unknownOptions(
  unknown: readonly string[],
  known: readonly string[],
  prefix: string,
): RobotsInvalidOptionsError {
  const names = unknown.map((name) => `\`${prefix}${name}\``).join(', ');
  const word = (unknown[0] ?? '').toLowerCase();
  // The closest one: `maxDelayMS` is two letters from `minDelayMs`, too.
  const meant = [0, 1, 2]
    .map((edits) => known.find((name) => isWithinEditDistance(word, name.toLowerCase(), edits)))
    .find((name) => name !== undefined);
  const proposal = meant === undefined ? '' : `; did you mean \`${prefix}${meant}\`?`;
  return new RobotsInvalidOptionsError(`Expected only known options, got ${names}${proposal}`);
}

/** `'one', 'other' or 'third'`, for messages. */
export function alternatives(names: readonly string[]): string {
  const quoted = names.map((name) => `'${name}'`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

function show(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return `${quote(value)} (${typeof value})`;
}

/**
 * Whether at most `edits` typing errors turn `word` into `name`: a letter inserted, omitted or replaced, or two
 * neighbouring letters swapped. Case counts.
 */
export function isWithinEditDistance(word: string, name: string, edits: number): boolean {
  if (Math.abs(word.length - name.length) > edits) return false;
  let same = 0;
  while (same < name.length && word[same] === name[same]) same++;
  const wordRest = word.slice(same);
  const nameRest = name.slice(same);
  if (wordRest === nameRest) return true;
  if (edits === 0) return false;
  const swapped = wordRest.length > 1 && wordRest[0] === nameRest[1] && wordRest[1] === nameRest[0];
  return (
    isWithinEditDistance(wordRest.slice(1), nameRest.slice(1), edits - 1) ||
    isWithinEditDistance(wordRest.slice(1), nameRest, edits - 1) ||
    isWithinEditDistance(wordRest, nameRest.slice(1), edits - 1) ||
    (swapped && isWithinEditDistance(wordRest.slice(2), nameRest.slice(2), edits - 1))
  );
}
