/**
 * Whether at most `edits` typing errors turn `word` into `name`: a letter inserted, omitted or replaced, or two
 * neighbouring letters swapped. Case counts.
 */
export function isNear(word: string, name: string, edits: number): boolean {
  if (Math.abs(word.length - name.length) > edits) return false;
  let same = 0;
  while (same < name.length && word[same] === name[same]) same++;
  const wordRest = word.slice(same);
  const nameRest = name.slice(same);
  if (wordRest === nameRest) return true;
  if (edits === 0) return false;
  const swapped = wordRest.length > 1 && wordRest[0] === nameRest[1] && wordRest[1] === nameRest[0];
  return (
    isNear(wordRest.slice(1), nameRest.slice(1), edits - 1) ||
    isNear(wordRest.slice(1), nameRest, edits - 1) ||
    isNear(wordRest, nameRest.slice(1), edits - 1) ||
    (swapped && isNear(wordRest.slice(2), nameRest.slice(2), edits - 1))
  );
}
