import { isNear } from '../../base/index.ts';
import { quoted } from '../../report/text/index.ts';
import { UsageError } from '../../report/usage-error.ts';

/**
 * Finds the name that `word` was meant to be: the same name in other letter case, a name that it contains or is the
 * beginning of, or the name with the fewest typing errors. Names of up to five letters may have one error, others two.
 */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const overlaps = (name: string): boolean =>
    (lower.length >= 2 && name.startsWith(lower)) || (name.length >= 3 && lower.includes(name));
  return (
    names.find((name) => name === lower) ??
    names.find((name) => isNear(lower, name, 1)) ??
    names.find(overlaps) ??
    names.find((name) => name.length > 5 && isNear(lower, name, 2))
  );
}

/**
 * The error for a word that is not among the choices, with a suggestion.
 *
 * @param expected What was expected, such as `a shell`.
 * @param otherwise What to do when no choice is near; nothing when the list of choices says enough.
 */
export function notAmong(
  expected: string,
  choices: readonly string[],
  got: string | undefined,
  otherwise?: string,
): UsageError {
  const list = `Expected ${expected} (${choices.join(', ')})`;
  if (got === undefined) return new UsageError(`${list}, got nothing`);
  const near = nearest(got, choices);
  const todo = near === undefined ? otherwise : `did you mean ${near}?`;
  return new UsageError(`${list}, got ${quoted(got)}${todo === undefined ? '' : `; ${todo}`}`);
}
