/** What keys are held against. */
export const KEYS: readonly string[] = ['user-agent', 'allow', 'disallow', 'sitemap', 'crawl-delay'];

/** The key that `word` (lower case) is, or is one letter away from; two, where the key is long enough. */
export function nearestKey(word: string): string | undefined {
  return KEYS.find((key) => isNear(word, key, key.length > 5 ? 2 : 1));
}

/** Whether at most so many letters inserted, dropped or replaced make `word` into `key`. */
function isNear(word: string, key: string, edits: number): boolean {
  if (Math.abs(word.length - key.length) > edits) return false;
  let same = 0;
  while (same < key.length && word[same] === key[same]) same++;
  const wordRest = word.slice(same);
  const keyRest = key.slice(same);
  if (wordRest === keyRest) return true;
  return (
    edits > 0 &&
    (isNear(wordRest.slice(1), keyRest.slice(1), edits - 1) ||
      isNear(wordRest.slice(1), keyRest, edits - 1) ||
      isNear(wordRest, keyRest.slice(1), edits - 1))
  );
}
